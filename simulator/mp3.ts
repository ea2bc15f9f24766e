import { createMp3Encoder } from 'wasm-media-encoders'
import { pcmSampleRate } from './tone.ts'

/** How mp3 is to be made: the rate of the samples, which is kept, and its bits a second. */
export interface Mp3Settings {
  rate: number
  kilobits: 32 | 48 | 96 | 128
}

const usual: Mp3Settings = { rate: pcmSampleRate, kilobits: 48 }

/** Raw samples as mp3, also on a machine on which no program is installed that could encode them. */
export async function* mp3Chunks(
  samples: AsyncIterable<Uint8Array>,
  { rate, kilobits }: Mp3Settings = usual,
): AsyncGenerator<Uint8Array> {
  const encoder = await createMp3Encoder()
  encoder.configure({ channels: 1, sampleRate: rate, bitrate: kilobits })
  for await (const bytes of samples) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const floats = Float32Array.from(
      { length: bytes.byteLength >> 1 },
      (_, at) => view.getInt16(at * 2, true) / 32_768,
    )
    // The encoder's own memory is written again by the next call.
    const encoded = encoder.encode([floats]).slice()
    if (encoded.length > 0) yield encoded
  }
  yield encoder.finalize().slice()
}
