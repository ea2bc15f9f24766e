import { createMp3Encoder } from 'wasm-media-encoders'
import { pcmSampleRate, toneChunks } from './tone.ts'

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

/** Callers have the same few texts spoken again and again, and encoding costs a hundred times what a tone does. */
const encodedTones = new Map<string, readonly Uint8Array[]>()
const encodedTonesMax = 50
const encodedCharactersMax = 1_000

/** The tone that stands for a text, as mp3. */
export async function* mp3Tone(
  text: string,
  speed: number,
  settings: Mp3Settings = usual,
): AsyncGenerator<Uint8Array> {
  const key = [[...text].length, speed, settings.rate, settings.kilobits].join()
  const known = encodedTones.get(key)
  if (known !== undefined) {
    yield* known
    return
  }
  const made: Uint8Array[] = []
  for await (const chunk of mp3Chunks(toneChunks(text, speed, settings.rate), settings)) {
    made.push(chunk)
    yield chunk
  }
  if (text.length <= encodedCharactersMax && encodedTones.size < encodedTonesMax) encodedTones.set(key, made)
}
