import { type PriceUnit, priceUnitRows } from '../../canonical/usage.ts'
import { modelNamed, type NameRule, type TableModel, type PriceTable } from '../prices/price-table.ts'

/** A price that grows or shrinks by this factor counts as a mistake. */
const priceJumpMax = 1_000n

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

/**
 * Compares two tables as they count now; prices that begin later are told with their day. A name of a model that another
 * model prices from now on is told as well, as if it were a model of its own.
 */
export function comparePrices(before: PriceTable, after: PriceTable, nowMs: number): PriceComparison {
  const result: PriceComparison = { changed: [], added: [], removed: [], doubts: [] }
  for (const provider of new Set([...Object.keys(before), ...Object.keys(after)].toSorted())) {
    const old = byId(before[provider])
    const young = byId(after[provider])
    for (const [name, [was, is]] of pairsOf(old, young)) {
      const changes = changesOf(`${provider}/${name}`, pricesOf(was, nowMs), pricesOf(is, nowMs))
      if (!was) result.added.push(...changes)
      else if (is) result.changed.push(...changes)
      else result.removed.push(...changes)
    }
    const lost = [...old.keys()].filter((id) => !young.has(id)).length
    if (lost * 2 > old.size) result.doubts.push(`${provider} loses ${lost} of its ${old.size} models`)
  }
  for (const change of result.changed) if (isJump(change)) result.doubts.push(describeJump(change))
  return result
}

/** In their order, the first of an id: a call finds no other. */
function byId(models: readonly TableModel[] = []): Models {
  const found = new Map<string, TableModel>()
  for (const model of models) if (!found.has(model.id)) found.set(model.id, model)
  return found
}

type Models = ReadonlyMap<string, TableModel>

type Pair = readonly [was: TableModel | null, is: TableModel | null]

/** What prices each model, and each name that another model prices from now on or that one prices only before or after. */
function pairsOf(old: Models, young: Models): [string, Pair][] {
  const pairs = new Map<string, Pair>()
  for (const id of new Set([...old.keys(), ...young.keys()]))
    pairs.set(id, [old.get(id) ?? null, young.get(id) ?? null])
  const [oldModels, youngModels] = [[...old.values()], [...young.values()]]
  for (const name of new Set([...oldModels, ...youngModels].flatMap(({ match }) => namesOf(match)))) {
    const was = modelNamed(oldModels, name)
    const is = modelNamed(youngModels, name)
    if (!isSaidByModel(was, is, { old, young })) pairs.set(name, [was, is])
  }
  return [...pairs].toSorted(([left], [right]) => (left < right ? -1 : 1))
}

/** Whether the row of the model says all there is to say of one of its names. */
function isSaidByModel(
  was: TableModel | null,
  is: TableModel | null,
  { old, young }: { old: Models; young: Models },
): boolean {
  if (was && is) return was.id === is.id
  if (was) return !young.has(was.id)
  return is === null || !old.has(is.id)
}

/** Names that a rule speaks of. */
function namesOf(rule: NameRule): string[] {
  if ('equals' in rule) return [rule.equals]
  if ('starts_with' in rule) return [rule.starts_with]
  if ('or' in rule) return rule.or.flatMap(namesOf)
  return 'and' in rule ? rule.and.flatMap(namesOf) : []
}

type Priced = Map<string, { unit: PriceUnit; condition: string; amount: bigint }>

/** Every price of a model that counts now or later, by its unit and condition. */
function pricesOf(model: TableModel | null, nowMs: number): Priced {
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

/** What is priced, in words. */
export function unitName({ unit, condition }: Pick<PriceChange, 'unit' | 'condition'>): string {
  return `${priceUnitRows[unit].priced}${condition}`
}

/** USD for a million units, for an hour of audio, for one request; `none` where there is no price. */
export function shownAmount(unit: PriceUnit, amount: bigint | null): string {
  if (amount === null) return 'none'
  const usd = Number(amount) / 1e9
  return String(Number((usd * (priceUnitRows[unit].isToldForOne ? 1e-6 : 1)).toPrecision(6)))
}
