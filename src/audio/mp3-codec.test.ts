import { afterAll, describe, expect, test } from 'bun:test'
import type { SpeechReader } from '../canonical/audio.ts'
import { GatewayError } from '../core/errors.ts'
import { createMp3Codec, type Mp3Conversion, mp3ConversionsMax } from './mp3-codec.ts'
import { mp3FrameBytes } from './mp3-info-frame.ts'
import { readMpegFrame } from './mpeg-frames.ts'
import { toS16 } from './samples.ts'
import { createSpeechStream } from './speech-stream.ts'

const codec = createMp3Codec()
afterAll(() => codec.close())

const rate = 24_000
const samplesPerFrame = 576

/** Something like a voice: a few tones that come and go. */
function voice(seconds: number): Uint8Array {
  const samples = Float32Array.from({ length: seconds * rate }, (_, index) => {
    const time = index / rate
    const loudness = 0.5 + 0.5 * Math.sin(2 * Math.PI * 3 * time)
    return loudness * (0.3 * Math.sin(2 * Math.PI * 220 * time) + 0.1 * Math.sin(2 * Math.PI * 1_730 * time))
  })
  return toS16(samples)
}

function pcmReader(): SpeechReader {
  return {
    push: (piece) => piece,
    end: () => new Uint8Array(0),
    output: { container: 'pcm', encoding: 's16le', rate, channels: 1 },
    billed: null,
  }
}

/** All bytes that a caller gets, and the bytes that each piece of the given number of samples produced. */
async function speak(samples: Uint8Array, pieceSamples: number): Promise<{ mp3: Buffer; shown: number[] }> {
  const stream = createSpeechStream({ responseFormat: 'mp3' }, pcmReader(), codec)
  const parts: Uint8Array[] = []
  const shown: number[] = []
  for (let offset = 0; offset < samples.length; offset += pieceSamples * 2) {
    const part = await stream.push(samples.subarray(offset, offset + pieceSamples * 2))
    shown.push(part?.length ?? 0)
    if (part) parts.push(part)
  }
  parts.push(await stream.end())
  return { mp3: Buffer.concat(parts), shown }
}

function framesOf(mp3: Uint8Array): number {
  let at = 0
  let frames = 0
  for (; at < mp3.length; frames += 1) {
    const frame = readMpegFrame(mp3, at)
    if (frame === null) throw new Error(`no frame at ${at}`)
    expect(frame).toMatchObject({ bytes: mp3FrameBytes, milliseconds: 24 })
    at += frame.bytes
  }
  expect(at).toBe(mp3.length)
  return frames
}

/** The samples that ffmpeg decodes. */
async function decoded(mp3: Uint8Array): Promise<Int16Array> {
  const program = Bun.spawn(['ffmpeg', '-v', 'error', '-f', 'mp3', '-i', 'pipe:0', '-f', 's16le', 'pipe:1'], {
    stdin: mp3,
  })
  const bytes = await new Response(program.stdout).bytes()
  return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1)
}

/** Signal-to-noise ratio in decibels between a sound and its converted form, which begins `lag` samples later. */
function signalToNoise(original: Int16Array, played: Int16Array, lag: number): number {
  let power = 0
  let noise = 0
  for (const [index, sample] of original.entries()) {
    power += sample ** 2
    noise += (sample - (played[index + lag] ?? 0)) ** 2
  }
  return 10 * Math.log10(power / noise)
}

const hasFfmpeg = Bun.which('ffmpeg') !== null
if (!hasFfmpeg) console.warn('skipped: decoding needs ffmpeg, which is not installed')

describe('mp3 of samples', () => {
  test('is whole frames of one kind, after a frame that states the encoder’s delay', async () => {
    const { mp3 } = await speak(voice(2), 4_096)
    expect(mp3.subarray(13, 17).toString('latin1')).toBe('Info')
    const soundFrames = framesOf(mp3) - 1
    // The source, the encoder's delay, and at most two frames until the last samples are out.
    expect(soundFrames).toBeGreaterThanOrEqual((2 * rate + samplesPerFrame) / samplesPerFrame)
    expect(soundFrames).toBeLessThanOrEqual((2 * rate) / samplesPerFrame + 3)
  })

  test('is the same however the samples are cut into pieces', async () => {
    const samples = voice(1)
    const [one, ...others] = await Promise.all(
      [24_000, 1, 100, 4_801].map((pieces) => speak(samples, pieces)),
    )
    for (const other of others) expect(other.mp3.equals(one?.mp3 ?? Buffer.alloc(0))).toBe(true)
  }, 60_000)

  test('leaves within three frames of its first sample, and then with every frame', async () => {
    const { shown } = await speak(voice(1), samplesPerFrame)
    expect(shown.findIndex((bytes) => bytes > 0)).toBeLessThan(3)
    expect(shown.slice(5).filter((bytes) => bytes === 0)).toEqual([])
  })

  test.skipIf(!hasFfmpeg)('sounds as its source, from the first sample on', async () => {
    const source = voice(3)
    const { mp3 } = await speak(source, 1_000)
    const played = await decoded(mp3)
    const original = new Int16Array(source.buffer, source.byteOffset, source.length >> 1)
    expect(played.length).toBeGreaterThanOrEqual(original.length)
    expect(played.length).toBeLessThan(original.length + 3 * samplesPerFrame)
    const closeness = [-2, -1, 0, 1, 2].map((lag) => signalToNoise(original, played, lag))
    // A joint with a click is far from this; a delay of one sample would make another lag the closest.
    expect(closeness[2]).toBeGreaterThan(23)
    expect(closeness.indexOf(Math.max(...closeness))).toBe(2)
  })

  test('counts as nothing delivered while only the frame before the sound was shown', async () => {
    const stream = createSpeechStream({ responseFormat: 'mp3' }, pcmReader(), codec)
    const samples = voice(1)
    let delivered = 0
    for (let frame = 0; frame < 8; frame += 1) {
      const from = frame * samplesPerFrame * 2
      delivered += (await stream.push(samples.subarray(from, from + samplesPerFrame * 2)))?.length ?? 0
      expect(stream.hasDelivered).toBe(delivered >= 2 * mp3FrameBytes)
    }
    expect(stream.hasDelivered).toBe(true)
    stream.close()
  })

  test('of nothing, or of text, is an error and no empty file', async () => {
    const silent = createSpeechStream({ responseFormat: 'mp3' }, pcmReader(), codec)
    expect(() => silent.end()).toThrow(GatewayError)
    const text = createSpeechStream({ responseFormat: 'mp3' }, pcmReader(), codec)
    expect(() => text.push(Buffer.from('{"error":"no such voice"}'))).toThrow(GatewayError)
  })
})

describe('the codec', () => {
  test('refuses more streams at once than it has room for, and has room again when they close', async () => {
    const own = createMp3Codec()
    const streams: Mp3Conversion[] = []
    for (let count = 0; count < mp3ConversionsMax; count += 1) streams.push(own.open('encode'))
    expect(() => own.open('encode')).toThrow(expect.objectContaining({ type: 'no_healthy_endpoint' }))
    streams[0]?.close()
    streams[0]?.close()
    const again = own.open('encode')
    expect((await again.push(voice(1))).length).toBeGreaterThan(10_000)
    own.close()
  })

  test('fails all its streams when it is closed, and a closed stream accepts no more samples', async () => {
    const own = createMp3Codec()
    const stream = own.open('encode')
    const closed = own.open('encode')
    closed.close()
    const failures = [stream.push(voice(1)), closed.push(voice(1))].map((pushed) =>
      pushed.then(
        () => 'converted',
        (error: GatewayError) => error.type,
      ),
    )
    own.close()
    expect(await Promise.all(failures)).toEqual(['internal', 'internal'])
  })

  test('takes less than a second of processor time for a minute of sound, and none of it from the event loop', async () => {
    const stream = codec.open('encode')
    await stream.push(voice(1))
    const samples = voice(6)
    const before = process.cpuUsage()
    let turns = 0
    const timer = setInterval(() => (turns += 1), 1)
    for (let part = 0; part < 10; part += 1) await stream.push(samples)
    clearInterval(timer)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000_000).toBeLessThan(1)
    expect(turns).toBeGreaterThan(20)
    stream.close()
  })
})
