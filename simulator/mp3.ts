import { createMp3Encoder } from 'wasm-media-encoders'
import { pcmSampleRate } from './tone.ts'

/** Raw samples at the rate of the tones as mp3, for a machine on which no program is installed that could encode them. */
export async function* mp3Chunks(samples: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoder = await createMp3Encoder()
  encoder.configure({ channels: 1, sampleRate: pcmSampleRate, bitrate: 48 })
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
