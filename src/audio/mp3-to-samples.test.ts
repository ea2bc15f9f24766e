import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isThorough } from '../../test/support/thorough.ts'
import { createMp3Encoder } from 'wasm-media-encoders'
import type { SpeechOutput, SpeechReader } from '../canonical/audio.ts'
import { GatewayError } from '../core/errors.ts'
import { createMp3Codec } from './mp3-codec.ts'
import { readMpegFrame } from './mpeg-frames.ts'
import { toS16 } from './samples.ts'
import { createSpeechStream } from './speech-stream.ts'

const codec = createMp3Codec()
afterAll(() => codec.close())

const rate = 24_000

/** Something like a voice, of both channels alike: a few tones that come and go. */
function voice(seconds: number, atRate = rate): Float32Array {
  return Float32Array.from({ length: Math.round(seconds * atRate) }, (_, index) => {
    const time = index / atRate
    const loudness = 0.5 + 0.5 * Math.sin(2 * Math.PI * 3 * time)
    return loudness * (0.3 * Math.sin(2 * Math.PI * 220 * time) + 0.1 * Math.sin(2 * Math.PI * 1_730 * time))
  })
}

function reader(output: SpeechOutput): SpeechReader {
  return { push: (piece) => piece, end: () => new Uint8Array(0), output, billed: null }
}

const mpeg: SpeechOutput = { container: 'mpeg' }
const contractPcm: SpeechOutput = { container: 'pcm', encoding: 's16le', rate, channels: 1 }

/** The samples that a caller gets for these bytes, and the samples that each piece produced. */
async function pass(format: 'mp3' | 'pcm', output: SpeechOutput, bytes: Uint8Array, pieceBytes = 4_096) {
  const stream = createSpeechStream({ responseFormat: format }, reader(output), codec)
  const parts: Uint8Array[] = []
  for (let from = 0; from < bytes.length; from += pieceBytes)
    parts.push((await stream.push(bytes.subarray(from, from + pieceBytes))) ?? new Uint8Array(0))
  parts.push(await stream.end())
  stream.close()
  return { bytes: Buffer.concat(parts), shown: parts.map(({ length }) => length) }
}

const encoded = async (samples: Float32Array) => (await pass('mp3', contractPcm, toS16(samples))).bytes
const decoded = async (mp3: Uint8Array, pieceBytes?: number) => {
  const { bytes } = await pass('pcm', mpeg, mp3, pieceBytes)
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/** Signal-to-noise ratio in decibels between a sound and its converted form, which begins `lag` samples later. */
function signalToNoise(original: Float32Array, played: Int16Array, lag = 0): number {
  let power = 0
  let noise = 0
  for (const [index, sample] of original.entries()) {
    power += sample ** 2
    noise += (sample - (played[index + lag] ?? 0) / 32_768) ** 2
  }
  return 10 * Math.log10(power / noise)
}

/** The source from its first sample on; a joint with a click, or a delay of one sample, is far from this. */
function expectSource(played: Int16Array, original: Float32Array): void {
  const closeness = [-2, -1, 0, 1, 2].map((lag) => signalToNoise(original, played, lag))
  expect(closeness[2]).toBeGreaterThan(23)
  expect(closeness.indexOf(Math.max(...closeness))).toBe(2)
}

/** Where every frame begins. */
function frameStarts(mp3: Buffer): number[] {
  const starts: number[] = []
  for (let at = 0; at < mp3.length; at += readMpegFrame(mp3, at)?.bytes ?? mp3.length) starts.push(at)
  return starts
}

const tag = (bytes: number) =>
  Buffer.concat([
    Buffer.from(['I', 'D', '3'].map((letter) => letter.charCodeAt(0))),
    Buffer.from([4, 0, 0, (bytes >> 21) & 127, (bytes >> 14) & 127, (bytes >> 7) & 127, bytes & 127]),
    Buffer.alloc(bytes, 0xff),
  ])

/** The microseconds of all threads of this process. */
function processorTimeSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

describe('samples of mp3', () => {
  test('are those of the source from its first sample on, when the stream states the delay', async () => {
    const source = voice(3)
    const played = await decoded(await encoded(source))
    expectSource(played, source)
    expect(played.length).toBeGreaterThanOrEqual(source.length)
    // The stream's length was not known when its first frame was written.
    expect(played.length).toBeLessThan(source.length + 3 * 576)
  })

  test('are the same however the bytes are cut', async () => {
    const mp3 = await encoded(voice(isThorough ? 1 : 0.3))
    const [whole, ...others] = await Promise.all([65_536, 1, 100, 1_023].map((size) => decoded(mp3, size)))
    for (const other of others) expect(other).toEqual(whole ?? new Int16Array(0))
  }, 60_000)

  test('leave within three frames of their first byte, and then with every frame', async () => {
    const mp3 = await encoded(voice(1))
    const { shown } = await pass('pcm', mpeg, mp3, 288)
    // The silent frame comes before.
    expect(shown.findIndex((bytes) => bytes > 0)).toBeLessThan(4)
    expect(shown.slice(4, -1).filter((bytes) => bytes === 0)).toEqual([])
  })

  test('come behind tags of any length', async () => {
    const mp3 = await encoded(voice(1))
    const plain = await decoded(mp3)
    for (const bytes of [0, 300, 200_000])
      expect(await decoded(Buffer.concat([tag(bytes), tag(20), mp3]))).toEqual(plain)
  })

  test('are brought to the contract’s rate and one channel', async () => {
    const original = voice(2).subarray(0, 40_000)
    for (const from of [8_000, 11_025, 16_000, 22_050, 44_100, 48_000] as const) {
      const encoder = await createMp3Encoder()
      encoder.configure({ channels: 2, sampleRate: from, bitrate: 128 })
      const samples = voice(2, from)
      const start = encoder.encode([samples, samples]).slice()
      const mp3 = Buffer.concat([start, encoder.finalize()])
      const played = await decoded(mp3)
      expect(played.length / rate).toBeWithin(2, 2.25)
      // This stream does not state its delay, which is 576 samples of its encoder and 529 of any decoder.
      const late = Math.round((1_105 * rate) / from)
      const closeness = [-3, -2, -1, 0, 1, 2, 3].map((lag) => signalToNoise(original, played, late + lag))
      expect([from, Math.max(...closeness) > 20]).toEqual([from, true])
    }
  })

  test('go on when the rate changes, for example between joined sentences', async () => {
    const encoder = await createMp3Encoder()
    encoder.configure({ channels: 1, sampleRate: 44_100, bitrate: 128 })
    const start = encoder.encode([voice(1, 44_100)]).slice()
    const other = Buffer.concat([start, encoder.finalize()])
    const played = await decoded(Buffer.concat([await encoded(voice(1)), other, await encoded(voice(1))]))
    expect(played.length / rate).toBeWithin(3, 3.4)
  })

  test('are those of the frames that came, where the last one is cut', async () => {
    const mp3 = await encoded(voice(2))
    const starts = frameStarts(mp3)
    const cut = starts[40] ?? 0
    const whole = await decoded(mp3)
    const played = await decoded(mp3.subarray(0, cut + 100))
    // The first frame is silent, and the delay that its tag states is left out.
    expect(played.length).toBe(39 * 576 - 1_105)
    expect(played).toEqual(whole.subarray(0, played.length))
  })

  test('go on behind garbage, and behind frames that are damaged', async () => {
    const source = voice(4)
    const mp3 = await encoded(source)
    const half = frameStarts(mp3)[80] ?? 0
    for (const garbage of [Buffer.from('not sound, but an accident. '.repeat(60)), Buffer.alloc(5_000)]) {
      const played = await decoded(Buffer.concat([mp3.subarray(0, half), garbage, mp3.subarray(half)]))
      expect(played.length / rate).toBeWithin(4, 4.3)
      expect(signalToNoise(source.subarray(0, 40_000), played)).toBeGreaterThan(23)
    }
    const damaged = Buffer.from(mp3)
    for (let at = 10_000; at < 12_000; at += 7) damaged[at] = (damaged[at] ?? 0) ^ 0x5a
    const played = await decoded(damaged)
    expect(played.length / rate).toBeWithin(3.7, 4.2)
    expect(signalToNoise(source.subarray(0, 18_000), played)).toBeGreaterThan(23)
  })

  test('fail for bytes that are not mp3 only with the error that says so', async () => {
    const mp3 = await encoded(voice(1))
    let state = 1
    const next = () => (state = (state * 48_271) % 2_147_483_647)
    for (let run = 0; run < (isThorough ? 60 : 8); run += 1) {
      const broken = Buffer.from(mp3)
      // The first two frames stay valid, so that the bytes are taken for sound.
      for (let at = 600; at < broken.length; at += 1 + (next() % 200)) broken[at] = next() % 256
      const played = await decoded(broken, 1 + (next() % 9_000))
      expect(played.length).toBeWithin(1, 10 * rate)
    }
  }, 60_000)

  test('of mp3 without a frame are an error, not silence', async () => {
    const nothing = [frameStarts(await encoded(voice(1))).slice(0, 0), tag(40)].map((bytes) =>
      Buffer.from(bytes),
    )
    const failures = nothing.map((bytes) =>
      pass('pcm', mpeg, bytes).catch((error: GatewayError) => error.type),
    )
    expect(await Promise.all(failures)).toEqual(['provider_failed', 'provider_failed'])
    const text = createSpeechStream({ responseFormat: 'pcm' }, reader(mpeg), codec)
    expect(() => text.push(Buffer.from('{"error":"no such voice"}'))).toThrow(GatewayError)
  })

  test('are also made from mp3 that a server gives instead of samples', async () => {
    const mp3 = await encoded(voice(1))
    const { bytes } = await pass('pcm', contractPcm, mp3)
    expect(bytes.equals((await pass('pcm', mpeg, mp3)).bytes)).toBe(true)
  })

  test('are decoded from small pieces of mp3, because samples are many times as large', () => {
    const stream = createSpeechStream({ responseFormat: 'pcm' }, reader(mpeg), codec)
    // At 8 kbit/s, eight seconds.
    expect(stream.pieceBytes).toBe(8_192)
    expect(createSpeechStream({ responseFormat: 'mp3' }, reader(mpeg), codec).pieceBytes).toBe(65_536)
  })

  test('take at most 1.6 times the processor time of their encoder, and none of it from the event loop', async () => {
    const encoder = await createMp3Encoder()
    encoder.configure({ channels: 2, sampleRate: 44_100, bitrate: 128 })
    const samples = voice(60, 44_100)
    // The encoder's time says how fast this machine is; a minute takes it 0.6 s where the decoder has 0.5 s.
    const encoding = process.cpuUsage()
    const mp3 = Buffer.from(encoder.encode([samples, samples]))
    const encoderTime = processorTimeSince(encoding)
    const stream = codec.open('decode')
    await stream.push(mp3.subarray(0, 8_192))
    const decoding = process.cpuUsage()
    let turns = 0
    const timer = setInterval(() => (turns += 1), 1)
    for (let from = 8_192; from < mp3.length; from += 8_192)
      await stream.push(mp3.subarray(from, from + 8_192))
    clearInterval(timer)
    expect(processorTimeSince(decoding) / encoderTime).toBeLessThan(1.6)
    expect(turns).toBeGreaterThan(20)
    stream.close()
  })
})

const hasFfmpeg = Bun.which('ffmpeg') !== null
if (!hasFfmpeg) console.warn('skipped: files that state their length need ffmpeg, which is not installed')

describe.skipIf(!hasFfmpeg)('samples of a file that states its length', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-mp3-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Both channels have the loudness of the single one. */
  const stereo = ['-af', 'pan=stereo|c0=c0|c1=c0']
  /** Two seconds and a part of a frame. */
  const seconds = 2.01

  /** Written into a file, because ffmpeg goes back to its beginning to state the length. */
  async function fileOf(from: number, options: readonly string[]): Promise<Buffer> {
    const path = join(folder, `${from}.mp3`)
    const input = ['-f', 'f32le', '-ar', String(from), '-ac', '1', '-i', 'pipe:0']
    const program = Bun.spawn(['ffmpeg', '-v', 'error', '-y', ...input, ...options, path], {
      stdin: new Uint8Array(voice(seconds, from).buffer),
      stderr: 'inherit',
    })
    expect(await program.exited).toBe(0)
    return Buffer.from(await Bun.file(path).bytes())
  }

  test.each([
    [8_000, ['-b:a', '16k']],
    [11_025, ['-b:a', '32k', ...stereo]],
    [12_000, ['-q:a', '2']],
    [16_000, ['-b:a', '48k', '-write_id3v2', '0']],
    [22_050, ['-b:a', '64k']],
    [24_000, ['-b:a', '64k', ...stereo, '-joint_stereo', '0']],
    [32_000, ['-q:a', '0', ...stereo]],
    [44_100, ['-b:a', '128k', ...stereo]],
    [44_100, ['-b:a', '320k', '-id3v2_version', '3', '-metadata', 'title=A long name']],
    [48_000, ['-b:a', '128k', '-write_id3v1', '1']],
  ] as [number, string[]][])('at %i Hz with %p are exactly those of its source', async (from, options) => {
    const played = await decoded(await fileOf(from, options))
    expect(played.length).toBe(Math.round((Math.round(seconds * from) * rate) / from))
    const inner = voice(seconds).subarray(0, played.length)
    const closeness = [-2, -1, 0, 1, 2].map((lag) => signalToNoise(inner, played, lag))
    expect(closeness.indexOf(Math.max(...closeness))).toBe(2)
    expect(closeness[2]).toBeGreaterThan(18)
  })

  test('are complete when the stated length is too small or too large', async () => {
    const file = await fileOf(24_000, ['-b:a', '48k'])
    const frames = file.indexOf('Info') + 8
    const stated = file.readUInt32BE(frames)
    const lengths: number[] = []
    for (const said of [stated, 10, stated - 1, stated + 50, 0xffff_ffff, 0]) {
      file.writeUInt32BE(said, frames)
      lengths.push((await decoded(file)).length)
    }
    const [exact = 0, ...others] = lengths
    for (const length of others) expect(length - exact).toBeWithin(0, 1_200)
  })
})
