import type { PriceUnit } from '../../canonical/usage.ts'
import { priceJumpMax } from '../../core/limits/catalog.ts'
import type { PackageModel, PricePackage } from '../price-package.ts'

/** One price of a model that is another one from now on; null where there is none. Nanocredits for a million units. */
export interface PriceChange {
  /** The package's provider and its name of the model. */
  model: string
  unit: PriceUnit
  /** Behind the unit: for which prompts, and from when. */
  condition: string
  before: bigint | null
  after: bigint | null
}

/** What becomes of a table of prices. */
export interface PriceComparison {
  /** Of models that both have. */
  changed: PriceChange[]
  /** Prices of models that are new. */
  added: PriceChange[]
  removed: PriceChange[]
  /** What looks like a mistake, a sentence each; such a table is taken only on purpose. */
  doubts: string[]
}

/** Compares two tables as they count now; prices that begin later are told with their day. */
export function comparePrices(before: PricePackage, after: PricePackage, nowMs: number): PriceComparison {
  const result: PriceComparison = { changed: [], added: [], removed: [], doubts: [] }
  for (const provider of new Set([...Object.keys(before), ...Object.keys(after)].toSorted())) {
    const old = byId(before[provider])
    const young = byId(after[provider])
    for (const id of new Set([...old.keys(), ...young.keys()].toSorted())) {
      const changes = changesOf(
        `${provider}/${id}`,
        pricesOf(old.get(id), nowMs),
        pricesOf(young.get(id), nowMs),
      )
      if (!old.has(id)) result.added.push(...changes)
      else if (young.has(id)) result.changed.push(...changes)
      else result.removed.push(...changes)
    }
    const lost = [...old.keys()].filter((id) => !young.has(id)).length
    if (lost * 2 > old.size) result.doubts.push(`${provider} loses ${lost} of its ${old.size} models`)
  }
  for (const change of result.changed) if (isJump(change)) result.doubts.push(describeJump(change))
  return result
}

function byId(models: readonly PackageModel[] = []): Map<string, PackageModel> {
  return new Map(models.map((model) => [model.id, model]))
}

type Priced = Map<string, { unit: PriceUnit; condition: string; amount: bigint }>

/** Every price of a model that counts now or later, by its unit and condition. */
function pricesOf(model: PackageModel | undefined, nowMs: number): Priced {
  const found: Priced = new Map()
  const current = model?.prices.findLast(({ fromMs }) => fromMs <= nowMs)
  for (const dated of model?.prices ?? []) {
    if (dated !== current && dated.fromMs <= nowMs) continue
    const from = dated === current ? '' : ` from ${new Date(dated.fromMs).toISOString().slice(0, 10)}`
    for (const { above, price } of [
      { above: '', price: dated.price },
      ...(dated.long ?? []).map((long) => ({
        above: ` above ${long.inputTokensAbove} tokens`,
        price: long.price,
      })),
    ]) {
      const condition = `${above}${from}`
      for (const [unit, amount] of Object.entries(price) as [PriceUnit, bigint][])
        found.set(`${unit}${condition}`, { unit, condition, amount })
    }
  }
  return found
}

function changesOf(model: string, before: Priced, after: Priced): PriceChange[] {
  return [...new Map([...before, ...after])].flatMap(([key, { unit, condition }]) => {
    const old = before.get(key)?.amount ?? null
    const young = after.get(key)?.amount ?? null
    return old === young ? [] : [{ model, unit, condition, before: old, after: young }]
  })
}

/** Whether a price is a thousand times what it was, or a thousandth; one that is given away from now on is so too. */
function isJump({ before, after }: PriceChange): boolean {
  if (before === null || after === null || before === 0n) return false
  return after > before * priceJumpMax || after * priceJumpMax < before
}

function describeJump(change: PriceChange): string {
  return `${change.model}: ${unitName(change)} goes from ${shownAmount(change.unit, change.before)} to ${shownAmount(change.unit, change.after)} USD`
}

const unitNames: Readonly<Record<PriceUnit, string>> = {
  inputToken: 'input',
  cachedInputToken: 'cached input',
  cacheWriteToken: 'cache write',
  cacheWriteHourToken: 'cache write for an hour',
  inputAudioToken: 'input audio',
  outputToken: 'output',
  outputAudioToken: 'output audio',
  audioMillisecond: 'an hour of audio',
  character: 'characters',
  request: 'a request',
}

/** What is priced, in words. */
export function unitName({ unit, condition }: Pick<PriceChange, 'unit' | 'condition'>): string {
  return `${unitNames[unit]}${condition}`
}

/** A million milliseconds are a 3.6th of an hour. */
const scales: Readonly<Partial<Record<PriceUnit, number>>> = { audioMillisecond: 3.6, request: 1e-6 }

/** USD for a million units, for an hour of audio, for one request; `none` where there is no price. */
export function shownAmount(unit: PriceUnit, amount: bigint | null): string {
  if (amount === null) return 'none'
  const usd = Number(amount) / 1e9
  return String(Number((usd * (scales[unit] ?? 1)).toPrecision(6)))
}
