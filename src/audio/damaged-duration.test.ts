import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isThorough } from '../../test/support/thorough.ts'
import { audioHeadBytes } from '../core/limits/audio.ts'
import { measureDuration } from './duration.ts'
import { storedInMemory } from './spool.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-damaged-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const hasFfmpeg = Bun.which('ffmpeg') !== null
if (!hasFfmpeg) console.warn('durations of damaged audio are not tested: ffmpeg is not installed')

async function ffmpeg(...args: readonly string[]): Promise<void> {
  const child = Bun.spawn(['ffmpeg', '-y', '-v', 'error', ...args])
  expect(await child.exited).toBe(0)
}

/** Encoding takes most of this file's time; `npm run prove -- durations` has three times as much sound. */
const soundSeconds = isThorough ? 30 : 10

/** So many seconds of a tone that changes, as ffmpeg writes it with these arguments. */
async function sound(name: string, args: readonly string[] = []): Promise<Buffer> {
  const target = join(folder, name)
  const source = join(folder, 'source.wav')
  const tone = `aevalsrc=0.3*sin(2*PI*(200+20*t)*t)+0.05*(2*random(0)-1):s=44100:d=${soundSeconds}`
  if (!existsSync(source)) await ffmpeg('-f', 'lavfi', '-i', tone, source)
  await ffmpeg('-i', source, ...args, target)
  return Buffer.from(await Bun.file(target).arrayBuffer())
}

function measure(format: string, bytes: Buffer): Promise<number | null> {
  const whole = new Uint8Array(bytes)
  const facts = { sizeBytes: whole.length, head: whole.subarray(0, audioHeadBytes) }
  return measureDuration({ format, stored: storedInMemory(facts, whole) })
}

/** The tolerance: two frames of any codec, and the delay that encoders add before the first sample. */
async function expectSeconds(format: string, bytes: Buffer, seconds: number): Promise<void> {
  const found = await measure(format, bytes)
  const isNear = found !== null && Math.abs(found - seconds * 1000) < 200
  expect({ format, seconds, found: isNear ? seconds * 1000 : found }).toEqual({
    format,
    seconds,
    found: seconds * 1000,
  })
}

/** Random bytes that belong to no format, the same in every run. */
function garbage(length: number): Buffer {
  let state = 12_345
  return Buffer.from(
    Uint8Array.from({ length }, () => (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) >> 16),
  )
}

const picture = Buffer.concat([
  Buffer.from('\xff\xd8\xff\xe0', 'latin1'),
  garbage(2_000_000),
  Buffer.from('\xff\xd9', 'latin1'),
])

function id3v2(body: Buffer): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (body.length >> shift) & 0x7f)
  return Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...size]), body])
}

function apeTag(body: Buffer): Buffer {
  const foot = Buffer.alloc(32)
  foot.write('APETAGEX')
  foot.writeUInt32LE(2_000, 8)
  foot.writeUInt32LE(body.length + 32, 12)
  return Buffer.concat([foot, body, foot])
}

describe.skipIf(!hasFfmpeg)('the duration', () => {
  test('of MPEG audio is that of its frames, in every version and layer', async () => {
    const kinds: [string, string[]][] = [
      ['mpeg1.mp3', ['-b:a', '64k']],
      ['mpeg2.mp3', ['-ar', '22050', '-b:a', '32k']],
      ['mpeg25.mp3', ['-ar', '11025', '-b:a', '16k']],
      ['joint.mp3', ['-ac', '2', '-joint_stereo', '1', '-q:a', '4']],
      ['layer2.mp3', ['-c:a', 'mp2', '-b:a', '192k', '-f', 'mp2']],
      ['layer2-mpeg2.mp3', ['-c:a', 'mp2', '-ar', '16000', '-b:a', '32k', '-f', 'mp2']],
    ]
    for (const [name, args] of kinds) await expectSeconds('mp3', await sound(name, args), soundSeconds)
  }, 60_000)

  test('of MP3 counts nothing but frames', async () => {
    const mp3 = await sound('whole.mp3', ['-q:a', '6'])
    const half = mp3.length >> 1
    const files: [Buffer, number][] = [
      [Buffer.concat([garbage(20_000), mp3]), soundSeconds],
      [Buffer.concat([mp3.subarray(0, half), garbage(20_000), mp3.subarray(half)]), soundSeconds],
      [Buffer.concat([id3v2(picture), mp3]), soundSeconds],
      [Buffer.concat([mp3, id3v2(picture), mp3]), 2 * soundSeconds],
      [Buffer.concat([mp3, apeTag(picture)]), soundSeconds],
      [Buffer.concat([mp3, apeTag(picture), Buffer.from('TAG'.padEnd(128, '\0'))]), soundSeconds],
      [Buffer.concat([mp3, mp3, mp3]), 3 * soundSeconds],
    ]
    for (const [bytes, seconds] of files) await expectSeconds('mp3', bytes, seconds)
  }, 60_000)

  test('of MP3 frames that are all isolated is the sum of the frames, because decoders play them', async () => {
    const mp3 = await sound('alone.mp3', ['-b:a', '64k', '-write_xing', '0', '-id3v2_version', '0'])
    const pieces: Buffer[] = []
    for (let at = 0; at + 4 < mp3.length;) {
      const bytes = Math.floor((144 * 64_000) / 44_100) + (((mp3[at + 2] ?? 0) >> 1) & 1)
      pieces.push(mp3.subarray(at, at + bytes), Buffer.from([0]))
      at += bytes
    }
    await expectSeconds('mp3', Buffer.concat(pieces), soundSeconds)
  }, 60_000)

  test('of a file that was cut off is that of the remaining part', async () => {
    const kinds: [string, string[]][] = [
      ['cut.mp3', ['-b:a', '64k']],
      ['cut.aac', ['-c:a', 'aac', '-b:a', '64k']],
      ['cut.m4a', ['-c:a', 'aac', '-b:a', '64k', '-movflags', '+faststart']],
      [
        'fragments.m4a',
        ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '1000000'],
      ],
      ['cut.webm', ['-c:a', 'libopus', '-b:a', '64k', '-vbr', 'off']],
      ['cut.ogg', ['-c:a', 'libopus', '-b:a', '64k', '-vbr', 'off']],
      ['cut.wav', []],
      ['cut.aiff', []],
    ]
    for (const [name, args] of kinds) {
      const whole = await sound(name, args)
      const format = name.split('.')[1] ?? ''
      await expectSeconds(format, whole, soundSeconds)
      const found = await measure(format, whole.subarray(0, whole.length / 2))
      // Ogg and fragments are cut at the last whole second.
      const isNear =
        found !== null && found > soundSeconds * 500 - 1_500 && found < soundSeconds * 500 + 1_000
      expect([name, isNear]).toEqual([name, true])
    }
    const flac = await sound('cut.flac')
    const found = await measure('flac', flac.subarray(0, flac.length / 3))
    expect(found).toBeGreaterThan((soundSeconds * 1_000 * 4) / 15)
    expect(found).toBeLessThan((soundSeconds * 1_000 * 6) / 15)
  }, 60_000)

  test('of a stream whose header was never completed is found', async () => {
    const flac = await sound('piped.flac')
    // The 36 bits of the number of samples.
    flac[21] = (flac[21] ?? 0) & 0xf0
    flac.fill(0, 22, 26)
    await expectSeconds('flac', flac, soundSeconds)
  }, 60_000)

  test('of MP4 is found behind free space, in fragments of any codec, and beside pictures', async () => {
    const m4a = await sound('plain.m4a', ['-c:a', 'aac'])
    const at = m4a.readUInt32BE(0)
    const free = Buffer.alloc(20_000_000)
    free.writeUInt32BE(free.length, 0)
    free.write('free', 4)
    await expectSeconds('m4a', Buffer.concat([m4a.subarray(0, at), free, m4a.subarray(at)]), soundSeconds)
    const inFragments = [
      '-movflags',
      'frag_keyframe+empty_moov+default_base_moof',
      '-frag_duration',
      '2000000',
    ]
    for (const codec of ['aac', 'alac', 'libopus', 'libmp3lame'])
      await expectSeconds(
        'm4a',
        await sound(`${codec}.m4a`, ['-c:a', codec, ...inFragments, '-strict', '-2', '-f', 'mp4']),
        soundSeconds,
      )
    const video = [
      '-f',
      'lavfi',
      '-i',
      `testsrc=d=${soundSeconds + 10}:s=64x48:r=2`,
      '-c:v',
      'mpeg4',
      '-c:a',
      'aac',
    ]
    await expectSeconds('m4a', await sound('video.m4a', [...video, '-f', 'mp4']), soundSeconds)
    const webm = [
      '-f',
      'lavfi',
      '-i',
      `testsrc=d=${soundSeconds + 10}:s=64x48:r=2`,
      '-c:v',
      'libvpx',
      '-deadline',
      'realtime',
      '-c:a',
      'libopus',
    ]
    await expectSeconds('webm', await sound('video.webm', webm), soundSeconds)
  }, 60_000)

  test('of bytes that look like pieces of a stream takes a bounded time, and does not block other work', async () => {
    const frames = Buffer.alloc(40_000_000, Buffer.from([0xff, 0xfb, 0x90, 0x64]))
    const elements = Buffer.alloc(40_000_000, Buffer.from([0xec, 0x80]))
    elements.set([0x1a, 0x45, 0xdf, 0xa3, 0x80, 0x80])
    const tracks = Buffer.alloc(40_000_000, Buffer.from([0xae, 0x85, 0xd7, 0x83, 1, 2, 3]))
    tracks.set([0x1a, 0x45, 0xdf, 0xa3, 0x83])
    for (const [format, bytes] of [
      ['mp3', frames],
      ['webm', elements],
      ['webm', tracks],
    ] as const) {
      const before = process.cpuUsage()
      await measure(format, bytes)
      const { user, system } = process.cpuUsage(before)
      // Half a second of processor time, however busy the machine is. Without a bound it would be ten and more.
      expect((user + system) / 1_000).toBeLessThan(5_000)
    }
  }, 60_000)
})
