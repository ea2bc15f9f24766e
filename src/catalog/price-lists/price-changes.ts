import { type PriceUnit, priceUnitRows } from '../../canonical/usage.ts'
import { modelNamed, type NameRule, type TableModel, type PriceTable } from '../prices/price-table.ts'

/** A price that grows or shrinks by more than this factor counts as a mistake. */
const priceJumpMax = 1_000n

/** One price of a model that changes; null where there is no price. Nanocredits for a million units. */
export interface PriceChange {
  /** The package's id of the provider, and its id or name of the model. */
  model: string
  unit: PriceUnit
  /** Follows the unit in a message: for which prompts, and from when. */
  condition: string
  before: bigint | null
  after: bigint | null
}

/** The differences between two tables of prices. */
export interface PriceComparison {
  /** Prices of models that both tables have. */
  changed: PriceChange[]
  /** Prices of models that are new. */
  added: PriceChange[]
  removed: PriceChange[]
  /** What looks like a mistake, one sentence each. The operator must confirm such a table. */
  doubts: string[]
}

/**
 * Compares the prices that two tables give from `nowMs` on; a price that begins later is listed with its day. A name
 * that moves to another model is listed too, as if it were a model.
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

/** Models by id, in their order. Of several with one id the first counts, since a lookup finds no other. */
function byId(models: readonly TableModel[] = []): Models {
  const found = new Map<string, TableModel>()
  for (const model of models) if (!found.has(model.id)) found.set(model.id, model)
  return found
}

type Models = ReadonlyMap<string, TableModel>

type Pair = readonly [was: TableModel | null, is: TableModel | null]

/** The two models before and after, for each model id and for each name that moves to another model. */
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

/** Whether the comparison of the models by id already covers this name. */
function isSaidByModel(
  was: TableModel | null,
  is: TableModel | null,
  { old, young }: { old: Models; young: Models },
): boolean {
  if (was && is) return was.id === is.id
  if (was) return !young.has(was.id)
  return is === null || !old.has(is.id)
}

/** Names and beginnings of names in a rule. */
function namesOf(rule: NameRule): string[] {
  if ('equals' in rule) return [rule.equals]
  if ('starts_with' in rule) return [rule.starts_with]
  if ('or' in rule) return rule.or.flatMap(namesOf)
  return 'and' in rule ? rule.and.flatMap(namesOf) : []
}

type Priced = Map<string, { unit: PriceUnit; condition: string; amount: bigint }>

/** Every price of a model that applies now or later, by its unit and condition. */
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

/** Whether a price changes by more than `priceJumpMax`; a price that becomes zero does too. */
function isJump({ before, after }: PriceChange): boolean {
  if (before === null || after === null || before === 0n) return false
  return after > before * priceJumpMax || after * priceJumpMax < before
}

function describeJump(change: PriceChange): string {
  return `${change.model}: ${unitName(change)} goes from ${shownAmount(change.unit, change.before)} to ${shownAmount(change.unit, change.after)} USD`
}

/** The priced unit with its condition, in words. */
export function unitName({ unit, condition }: Pick<PriceChange, 'unit' | 'condition'>): string {
  return `${priceUnitRows[unit].priced}${condition}`
}

/**
 * The price in USD, for a million units, an hour of audio or one request, as the unit is shown; `none` where there is
 * no price.
 */
export function shownAmount(unit: PriceUnit, amount: bigint | null): string {
  if (amount === null) return 'none'
  const usd = Number(amount) / 1e9
  return String(Number((usd * (priceUnitRows[unit].isToldForOne ? 1e-6 : 1)).toPrecision(6)))
}
