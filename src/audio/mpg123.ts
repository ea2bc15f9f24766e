import { MPEGDecoder } from 'mpg123-decoder'

/** Samples of one rate, from -1 to 1; several channels are averaged. */
export interface DecodedSound {
  rate: number
  samples: Float32Array
}

/**
 * mpg123 in WebAssembly: decodes one stream of MPEG audio of any layer, rate and number of channels. It finds the
 * frames itself, after tags and among garbage, skips the silent first frame and frames that are too damaged, and never
 * fails for a provider's data. Synchronous: a minute of sound takes a tenth of a second, so it runs in its own thread.
 */
export class Mpg123 {
  readonly #decoder: MPEGDecoder

  private constructor(decoder: MPEGDecoder) {
    this.#decoder = decoder
  }

  static async open(): Promise<Mpg123> {
    // With this option it knows the delay only of streams that state their length.
    const decoder = new MPEGDecoder({ enableGapless: false })
    await decoder.ready
    return new Mpg123(decoder)
  }

  /** The samples of the frames that these bytes complete, all of one rate; so pass few bytes. */
  push(bytes: Uint8Array): DecodedSound {
    const { channelData, sampleRate } = this.#decoder.decode(bytes)
    const [left, right] = channelData
    if (left === undefined || right === undefined) throw new Error('the decoder gave no channels')
    // A single channel is returned twice.
    for (let index = 0; index < left.length; index += 1)
      left[index] = ((left[index] ?? 0) + (right[index] ?? 0)) / 2
    return { rate: sampleRate, samples: left }
  }

  close(): void {
    this.#decoder.free()
  }
}
