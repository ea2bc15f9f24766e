import { assert } from '../core/assert.ts'

/** The most rows of resampling coefficients: 24,000 against 44,100 Hz needs 80, against 22,050 Hz 160. */
const resamplePhasesMax = 960

/** Zero crossings of the filter on each side: enough that no aliasing is audible. */
const crossings = 16

/**
 * Changes the rate of mono samples on arrival, by a windowed sinc filter with precomputed coefficients. The output has
 * exactly the length of the input at the new rate, rounded; half a filter's length arrives late, with `end`.
 */
export class Resampler {
  /** The new rate over the old one, in lowest terms: `up` over `down`. */
  readonly #up: number
  readonly #down: number
  readonly #half: number
  /** One row of coefficients for every position between two input samples. */
  readonly #rows: Float32Array[]
  /** The input from sample `#start` on, with zeros before the beginning. */
  #input: Float32Array
  #start: number
  #received = 0
  #produced = 0

  constructor(fromRate: number, toRate: number) {
    assert(isResamplable(fromRate, toRate), 'rates were checked before')
    const divisor = greatestCommonDivisor(fromRate, toRate)
    this.#up = toRate / divisor
    this.#down = fromRate / divisor
    const cutoff = Math.min(1, this.#up / this.#down)
    this.#half = Math.ceil(crossings / cutoff)
    this.#rows = Array.from({ length: this.#up }, (_, phase) => makeRow(phase / this.#up, cutoff, this.#half))
    this.#start = -this.#half
    this.#input = new Float32Array(this.#half)
  }

  push(samples: Float32Array): Float32Array {
    this.#received += samples.length
    this.#append(samples)
    return this.#produce(Math.max(0, this.#outputsBefore(this.#received - this.#half)))
  }

  end(): Float32Array {
    this.#append(new Float32Array(this.#half + 1))
    return this.#produce(Math.round((this.#received * this.#up) / this.#down))
  }

  /** How many outputs have their whole filter before `sample`. */
  #outputsBefore(sample: number): number {
    return Math.floor((sample * this.#up) / this.#down)
  }

  #append(samples: Float32Array): void {
    const needed = Math.floor((this.#produced * this.#down) / this.#up) - this.#half
    const kept = this.#input.subarray(Math.max(0, needed - this.#start))
    this.#start += this.#input.length - kept.length
    const joined = new Float32Array(kept.length + samples.length)
    joined.set(kept)
    joined.set(samples, kept.length)
    this.#input = joined
  }

  #produce(total: number): Float32Array {
    const output = new Float32Array(Math.max(0, total - this.#produced))
    for (let index = 0; index < output.length; index++) {
      const position = (this.#produced + index) * this.#down
      const row = this.#rows[position % this.#up]
      const first = Math.floor(position / this.#up) - this.#half - this.#start
      output[index] = row === undefined ? 0 : dotProduct(row, this.#input, first)
    }
    this.#produced += output.length
    return output
  }
}

function dotProduct(row: Float32Array, input: Float32Array, first: number): number {
  let sum = 0
  for (let tap = 0; tap < row.length; tap++) sum += (row[tap] ?? 0) * (input[first + tap] ?? 0)
  return sum
}

/** Whether two rates have a small enough ratio for a table of coefficients; all rates in use do. */
export function isResamplable(fromRate: number, toRate: number): boolean {
  if (!Number.isSafeInteger(fromRate) || fromRate < 4_000 || fromRate > 192_000) return false
  return toRate / greatestCommonDivisor(fromRate, toRate) <= resamplePhasesMax
}

/**
 * Coefficients for an output that lies `fraction` after an input sample; they sum to 1, so that levels do not change.
 */
function makeRow(fraction: number, cutoff: number, half: number): Float32Array {
  const row = new Float32Array(2 * half + 1)
  let sum = 0
  for (let tap = 0; tap < row.length; tap++) {
    const distance = tap - half - fraction
    const x = Math.PI * distance * cutoff
    const sinc = x === 0 ? 1 : Math.sin(x) / x
    const edge = Math.min(1, Math.abs(distance) / (half + 1))
    const coefficient = sinc * (0.5 + 0.5 * Math.cos(Math.PI * edge))
    row[tap] = coefficient
    sum += coefficient
  }
  return row.map((coefficient) => coefficient / sum)
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
