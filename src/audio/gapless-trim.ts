import type { Mp3Info } from './mp3-info-reader.ts'

/**
 * Removes the samples that encoder and decoder added before and after the source's samples, as far as the stream states
 * their numbers. Samples that seem to come after the end are held back. If more of them come than a codec adds, the
 * stated length was wrong, and all of them are kept.
 */
export class GaplessTrim {
  readonly #tailMax: number
  #leadLeft: number
  #sourceLeft: number
  #tail: Float32Array[] = []
  #tailSamples = 0

  constructor({ leadSamples, source }: Mp3Info) {
    this.#leadLeft = leadSamples
    this.#sourceLeft = source?.samples ?? Number.POSITIVE_INFINITY
    this.#tailMax = source?.tailSamples ?? 0
  }

  /**
   * The source's samples among these; a view if possible. Samples still held at the end do not belong to the source.
   */
  push(samples: Float32Array): Float32Array {
    const lead = Math.min(this.#leadLeft, samples.length)
    this.#leadLeft -= lead
    const rest = samples.subarray(lead)
    const taken = rest.subarray(0, Math.min(rest.length, this.#sourceLeft))
    this.#sourceLeft -= taken.length
    return taken.length === rest.length ? taken : this.#hold(taken, rest.subarray(taken.length))
  }

  #hold(taken: Float32Array, tail: Float32Array): Float32Array {
    this.#tail.push(tail)
    this.#tailSamples += tail.length
    if (this.#tailSamples <= this.#tailMax) return taken
    this.#sourceLeft = Number.POSITIVE_INFINITY
    const all = new Float32Array(taken.length + this.#tailSamples)
    all.set(taken)
    let at = taken.length
    for (const held of this.#tail) {
      all.set(held, at)
      at += held.length
    }
    this.#tail = []
    return all
  }
}
