import { assert } from './assert.ts'

/**
 * Money is whole nanocredits in a bigint: 1 credit = 1 USD = 1,000,000,000 nanocredits. A price is whole nanocredits
 * per million units. Floats exist only in API bodies, made and read by the functions below.
 */
export type Nanocredits = bigint

const unitsPerPrice = 1_000_000n
const unitsPerPriceNumber = Number(unitsPerPrice)

/** One term of a cost: a quantity and its price in nanocredits per million units. */
export interface PricedQuantity {
  /** Whole units, never negative. */
  quantity: number
  /** Nanocredits per million units. */
  price: Nanocredits
  /**
   * The number of units that the price is for, when it is not a million: audio is measured in milliseconds and priced
   * by the hour.
   */
  per?: bigint
}

/** The cost of several quantities: added exactly, then rounded once, see `CostSum`. */
export function costOf(terms: readonly PricedQuantity[]): Nanocredits {
  const sum = new CostSum()
  for (const { quantity, price, per } of terms) sum.add(quantity, price, per)
  return sum.rounded()
}

/**
 * A cost that is added term by term: exactly, and rounded once to whole nanocredits, half to even, as the ledger
 * requires. A sum of rounded parts would drift from the total by one nanocredit per part.
 */
export class CostSum {
  // A number is used while it is exact, which is all but absurd amounts: a bigint would allocate memory at every step.
  #millionths = 0
  /** The sum as a fraction, once a number cannot hold it; null until then. */
  #dividend: bigint | null = null
  #divisor = unitsPerPrice

  /** Adds a term; its members are those of `PricedQuantity`. */
  add(quantity: number, price: Nanocredits, per?: bigint): void {
    assert(Number.isSafeInteger(quantity) && quantity >= 0, 'a priced quantity is a whole number from 0')
    if (this.#dividend === null && per === undefined && price >= 0n) {
      // A product or sum beyond 2^53 may have been rounded; one within it was not.
      const next = this.#millionths + quantity * Number(price)
      if (next <= Number.MAX_SAFE_INTEGER) {
        this.#millionths = next
        return
      }
    }
    this.#addFraction(BigInt(quantity) * price, per ?? unitsPerPrice)
  }

  addSum(other: CostSum): void {
    const next = this.#millionths + other.#millionths
    const areNumbers = this.#dividend === null && other.#dividend === null
    if (areNumbers && next <= Number.MAX_SAFE_INTEGER) this.#millionths = next
    else this.#addFraction(other.#dividend ?? BigInt(other.#millionths), other.#divisor)
  }

  /** Multiplies all that was added by so many millionths. */
  multiply(millionths: bigint): void {
    this.#dividend = (this.#dividend ?? BigInt(this.#millionths)) * millionths
    this.#divisor *= unitsPerPrice
  }

  /** The whole sum in nanocredits. */
  rounded(): Nanocredits {
    if (this.#dividend === null) return BigInt(pricedHalfEven(this.#millionths))
    return divideHalfEven(this.#dividend, this.#divisor)
  }

  #addFraction(dividend: bigint, divisor: bigint): void {
    const common = this.#divisor % divisor === 0n ? this.#divisor : this.#divisor * divisor
    const own = this.#dividend ?? BigInt(this.#millionths)
    this.#dividend = own * (common / this.#divisor) + dividend * (common / divisor)
    this.#divisor = common
  }
}

function pricedHalfEven(total: number): number {
  const rest = total % unitsPerPriceNumber
  const quotient = (total - rest) / unitsPerPriceNumber
  const isHalf = rest * 2 === unitsPerPriceNumber
  return rest * 2 > unitsPerPriceNumber || (isHalf && quotient % 2 === 1) ? quotient + 1 : quotient
}

/** Integer division, rounded half to even. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  assert(divisor > 0n, 'divisor must be positive')
  let quotient = dividend / divisor
  let rest = dividend % divisor
  if (rest < 0n) {
    rest += divisor
    quotient -= 1n
  }
  const twice = rest * 2n
  if (twice > divisor || (twice === divisor && quotient % 2n !== 0n)) quotient += 1n
  return quotient
}

const decimalPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/

/**
 * Credits written in decimal (`"0.000015"`, `2.5`, `1e-7`) as whole nanocredits, times `factor` and then rounded half to
 * even. Throws a RangeError on anything else, and on amounts that no database column holds: a price list with a typo is
 * refused and not read as zero.
 */
export function parseCredits(value: string | number, factor = 1n): Nanocredits {
  const match = decimalPattern.exec(String(value).trim())
  if (!match) throw new RangeError(`"${value}" is not a decimal amount of credits`)
  const [, sign, whole = '0', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  const scale = 9 - fraction.length + Number(exponent)
  const multiplied = digits * factor
  const amount =
    scale >= 0 ? multiplied * 10n ** BigInt(scale) : divideHalfEven(multiplied, 10n ** BigInt(-scale))
  if (amount / factor > amountMax) throw new RangeError(`"${value}" is more credits than there can be`)
  return sign === '-' ? -amount : amount
}

/** The largest whole number that a database column holds: nine billion credits. */
export const amountMax = 2n ** 63n - 1n

/** A sum, at most the largest amount. As a limit, any larger value has the same effect. */
export function boundedAmount(amount: Nanocredits): Nanocredits {
  return amount < amountMax ? amount : amountMax
}

/** Nanocredits as a JSON number of credits; exact up to 2^53 nanocredits (9 million credits), nearest double beyond. */
export function toCredits(amount: Nanocredits): number {
  return Number(amount) / 1e9
}

/** Nanocredits as an exact decimal string of credits, such as `0.000015` or `-2.5`, without trailing zeros. */
export function formatCredits(amount: Nanocredits): string {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`
}
