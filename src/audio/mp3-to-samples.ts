import { pcmOutputRate } from '../canonical/audio.ts'
import { GaplessTrim } from './gapless-trim.ts'
import { Mp3InfoReader } from './mp3-info-reader.ts'
import { Mpg123 } from './mpg123.ts'
import { isResamplable, Resampler } from './resampler.ts'
import { toS16 } from './samples.ts'

/**
 * The bytes of mp3 that are decoded at once: two frames of usual speech; the rate does not change inside such a slice.
 */
const mp3SliceBytes = 1_024

/**
 * Converts one stream of MPEG audio to the contract's samples: decodes it, mixes it to one channel, removes the samples
 * that the encoder added (if the stream states them), and resamples it. The caller closes it.
 */
export class Mp3ToSamples {
  readonly #decoder: Mpg123
  readonly #info = new Mp3InfoReader()
  #trim: GaplessTrim | null = null
  /** 0 before the first sound. */
  #rate = 0
  /** Null when the stream has the contract's rate. */
  #resampler: Resampler | null = null

  private constructor(decoder: Mpg123) {
    this.#decoder = decoder
  }

  static async open(): Promise<Mp3ToSamples> {
    return new Mp3ToSamples(await Mpg123.open())
  }

  push(bytes: Uint8Array): Uint8Array {
    const converted: Uint8Array[] = []
    for (let from = 0; from < bytes.length; from += mp3SliceBytes)
      converted.push(...this.#convert(bytes.subarray(from, from + mp3SliceBytes)))
    return Buffer.concat(converted)
  }

  end(): Uint8Array {
    return this.#resampler === null ? new Uint8Array(0) : toS16(this.#resampler.end())
  }

  close(): void {
    this.#decoder.close()
  }

  *#convert(slice: Uint8Array): Generator<Uint8Array> {
    this.#info.push(slice)
    const { rate, samples } = this.#decoder.push(slice)
    if (samples.length === 0 || !isResamplable(rate, pcmOutputRate)) return
    if (rate !== this.#rate) yield this.#begin(rate)
    const source = this.#trim?.push(samples) ?? samples
    yield toS16(this.#resampler?.push(source) ?? source)
  }

  /**
   * Called at the first sound, and whenever the rate changes: some servers join sentences of different rates. Returns
   * the rest at the former rate. A first frame that states delays is read before any sound.
   */
  #begin(rate: number): Uint8Array {
    const rest = this.end()
    const { info } = this.#info
    this.#trim = this.#rate === 0 && info !== null ? new GaplessTrim(info) : null
    this.#rate = rate
    this.#resampler = rate === pcmOutputRate ? null : new Resampler(rate, pcmOutputRate)
    return rest
  }
}
