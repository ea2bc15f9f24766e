import { ApiError } from '../errors.ts'
import { mp3Chunks, mp3Tone } from '../mp3.ts'
import { spoken, type Speech } from '../synthesize.ts'
import { toneChunks } from '../tone.ts'
import type { AudioAsked } from './audio-api.ts'

/** The text to speak, and the format of the bytes; one channel. */
export interface Saying {
  text: string
  voice: string
  speed: number
  rate: number
  sound: 'mp3' | 'wav' | 's16le' | 'f32le'
  kilobits?: 32 | 48 | 96 | 128
}

/** Speech that has begun; `dispose` must be called on every exit. */
export interface Said {
  engine: Speech['engine']
  audio: AsyncGenerator<Uint8Array>
  dispose(): Promise<unknown>
}

/** Real speech where the machine has a synthesizer, else a tone. Throws `ApiError` when it cannot begin. */
export async function say(
  saying: Saying,
  {
    programs,
    mount: { settings },
    faults,
    signal,
  }: Pick<AudioAsked, 'programs' | 'mount' | 'faults' | 'signal'>,
): Promise<Said> {
  const { text, voice, speed, rate } = saying
  const isTone = faults.tone === true || settings.speech === 'tone'
  const real = isTone ? null : spoken({ text, voice, speed, format: 'pcm', rate }, programs, signal)
  const choices: Speech[] = [
    ...(real === null ? [] : [real]),
    { engine: 'tone', audio: toneChunks(text, speed, rate) },
  ]
  for (const { engine, audio } of choices) {
    const first = await audio.next()
    if (first.done === true) continue
    const dispose = () => audio.return(undefined)
    if (engine === 'tone' && saying.sound === 'mp3')
      return { engine, audio: mp3Tone(text, speed, { rate, kilobits: saying.kilobits ?? 128 }), dispose }
    return { engine, audio: packed(withFirst(first.value, audio), saying), dispose }
  }
  throw new ApiError({ status: 503, message: 'The synthesizer is busy.' })
}

async function* withFirst(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* rest
}

function packed(
  samples: AsyncGenerator<Uint8Array>,
  { sound, rate, kilobits = 128 }: Saying,
): AsyncGenerator<Uint8Array> {
  if (sound === 'mp3') return mp3Chunks(wholeSamples(samples), { rate, kilobits })
  if (sound === 'wav') return withHeader(samples, rate)
  return sound === 'f32le' ? floats(samples) : samples
}

/** A program's output may be cut within a sample. */
async function* wholeSamples(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const all = Buffer.concat([rest, chunk])
    const whole = all.length - (all.length % 2)
    rest = all.subarray(whole)
    if (whole > 0) yield all.subarray(0, whole)
  }
}

/** Like in other streamed files, the header states an unknown length. */
async function* withHeader(samples: AsyncIterable<Uint8Array>, rate: number): AsyncGenerator<Uint8Array> {
  const header = Buffer.alloc(44)
  header.write('RIFF\xff\xff\xff\xffWAVEfmt ', 0, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data\xff\xff\xff\xff', 36, 'latin1')
  yield header
  yield* samples
}

async function* floats(samples: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of wholeSamples(samples)) {
    const shorts = Buffer.from(chunk)
    const view = new DataView(new ArrayBuffer(shorts.length * 2))
    for (let at = 0; at < shorts.length; at += 2)
      view.setFloat32(at * 2, shorts.readInt16LE(at) / 32_768, true)
    yield new Uint8Array(view.buffer)
  }
}
