import type { Demand } from '../../canonical/usage.ts'
import { boundedAmount } from '../../core/money.ts'
import { nextTurn } from '../../core/turns.ts'
import type { ItemEstimate } from '../item-contract.ts'

/** Bytes of items' demands that are priced before other work gets a turn; a demand has about six. */
const demandBlockBytes = 16_384
/** Prices remembered while the items of a batch are priced: more lengths of input than most batches have. */
export const demandPricesMax = 10_000

/** Four numbers of at most eight bytes with seven bits each: repetitions, input, output, and choices with a flag. */
const entryBytesMax = 32

/**
 * The demands of a batch's items, kept until the price is known: a few bytes for an item, and none for an item with the
 * same demand as the one before.
 */
export class DemandLog {
  readonly #blocks: Uint8Array[] = []
  #block = new Uint8Array(0)
  #used = 0
  #last: Demand | null = null
  /** How often `#last` came in a row; these are not in a block yet. */
  #count = 0

  /** Keeps only what text items demand: input tokens, output tokens, choices, and whether a part can only be counted by the provider. */
  add(demand: Demand | null): void {
    if (this.#count > 0 && isSame(demand, this.#last)) {
      this.#count++
      return
    }
    this.#flush()
    this.#last = demand
    this.#count = 1
  }

  /** The cost of all items together, at most the largest amount. Yields to other work between blocks. */
  async price(estimateItem: (demand: Demand | null) => ItemEstimate): Promise<ItemEstimate> {
    this.#flush()
    this.#endBlock()
    const memory = new PriceMemory(estimateItem)
    let estimate = 0n
    let worstCase = 0n
    for (const block of this.#blocks) {
      for (const { count, demand } of entriesOf(block)) {
        const price = memory.priceOf(demand)
        estimate += price.estimate * BigInt(count)
        worstCase += price.worstCase * BigInt(count)
      }
      await nextTurn()
    }
    return { estimate: boundedAmount(estimate), worstCase: boundedAmount(worstCase) }
  }

  #flush(): void {
    if (this.#count === 0) return
    if (this.#used + entryBytesMax > this.#block.length) {
      this.#endBlock()
      this.#block = new Uint8Array(demandBlockBytes)
    }
    this.#write(this.#count)
    // Zero stands for an absent value, so every present value is written plus one.
    this.#write(this.#last === null ? 0 : this.#last.inputTokens + 1)
    if (this.#last !== null) {
      this.#write(this.#last.outputTokensMax === null ? 0 : this.#last.outputTokensMax + 1)
      this.#write(this.#last.choices * 2 + (this.#last.hasUncountedInput === true ? 1 : 0))
    }
    this.#count = 0
  }

  #endBlock(): void {
    if (this.#used > 0) this.#blocks.push(this.#block.subarray(0, this.#used))
    this.#block = new Uint8Array(0)
    this.#used = 0
  }

  /** Seven bits a byte, the lowest first. */
  #write(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      this.#block[this.#used++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#block[this.#used++] = rest
  }
}

interface Entry {
  count: number
  demand: Demand | null
}

function* entriesOf(block: Uint8Array): Generator<Entry> {
  let at = 0
  const read = (): number => {
    let value = 0
    for (let unit = 1; ; unit *= 0x80) {
      const byte = block[at++] ?? 0
      value += (byte & 0x7f) * unit
      if (byte < 0x80) return value
    }
  }
  while (at < block.length) {
    const count = read()
    const input = read()
    if (input === 0) yield { count, demand: null }
    else yield { count, demand: textDemand(input - 1, read(), read()) }
  }
}

function textDemand(inputTokens: number, output: number, choicesAndFlag: number): Demand {
  const outputTokensMax = output === 0 ? null : output - 1
  const choices = Math.floor(choicesAndFlag / 2)
  const demand = { inputTokens, outputTokensMax, choices, audioMilliseconds: 0, characters: 0 }
  return choicesAndFlag % 2 === 1 ? { ...demand, hasUncountedInput: true } : demand
}

function isSame(left: Demand | null, right: Demand | null): boolean {
  if (left === null || right === null) return left === right
  return (
    left.inputTokens === right.inputTokens &&
    left.outputTokensMax === right.outputTokensMax &&
    left.choices === right.choices &&
    left.hasUncountedInput === right.hasUncountedInput
  )
}

/** Remembers prices: most items of a batch differ only in the length of their input. */
class PriceMemory {
  readonly #estimateItem: (demand: Demand | null) => ItemEstimate
  /** By input tokens, for the output and choices of `#like`. */
  readonly #prices = new Map<number, ItemEstimate>()
  #like: Demand | null = null

  constructor(estimateItem: (demand: Demand | null) => ItemEstimate) {
    this.#estimateItem = estimateItem
  }

  priceOf(demand: Demand | null): ItemEstimate {
    if (demand === null) return this.#estimateItem(null)
    if (!this.#isAlike(demand) || this.#prices.size === demandPricesMax) this.#prices.clear()
    this.#like = demand
    const known = this.#prices.get(demand.inputTokens)
    if (known) return known
    const price = this.#estimateItem(demand)
    this.#prices.set(demand.inputTokens, price)
    return price
  }

  #isAlike({ outputTokensMax, choices, hasUncountedInput }: Demand): boolean {
    return (
      this.#like?.outputTokensMax === outputTokensMax &&
      this.#like.choices === choices &&
      this.#like.hasUncountedInput === hasUncountedInput
    )
  }
}
