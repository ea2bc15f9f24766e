import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toFormat, wavHeader } from '../canonical/audio.ts'
import { audioHeadBytes } from '../core/limits/audio.ts'
import { measureChannels } from './channels.ts'
import { sniffFormat } from './sniff.ts'
import { storedInMemory } from './spool.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-channels-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const hasFfmpeg = Bun.which('ffmpeg') !== null
if (!hasFfmpeg) console.warn('channels of real audio are not counted: ffmpeg is not installed')

function channelsOf(name: string, bytes: Uint8Array): Promise<number | null> {
  const extension = name.slice(name.lastIndexOf('.') + 1)
  const facts = { sizeBytes: bytes.length, head: bytes.subarray(0, audioHeadBytes) }
  const stored = storedInMemory(facts, new Uint8Array(bytes))
  return measureChannels({ format: sniffFormat(stored.head) ?? toFormat(extension) ?? extension, stored })
}

/** A tone of a second in the container that ffmpeg makes of these arguments. */
async function tone(name: string, channels: number, args: readonly string[]): Promise<Uint8Array> {
  const target = join(folder, `${channels}-${name}`)
  const source = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=1:sample_rate=48000']
  const child = Bun.spawn(
    ['ffmpeg', '-y', '-loglevel', 'error', ...source, '-ac', String(channels), ...args, target],
    { stdout: 'ignore', stderr: 'inherit' },
  )
  expect(await child.exited).toBe(0)
  return new Uint8Array(await Bun.file(target).arrayBuffer())
}

const containers: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['a.wav', []],
  ['adpcm.wav', ['-c:a', 'adpcm_ms']],
  ['a.aiff', []],
  ['a.mp3', []],
  ['tagged.mp3', ['-metadata', `title=${'x'.repeat(5_000)}`, '-id3v2_version', '3']],
  ['a.aac', []],
  ['a.flac', []],
  ['opus.ogg', ['-c:a', 'libopus']],
  ['vorbis.ogg', ['-c:a', 'libvorbis']],
  ['flac.ogg', ['-c:a', 'flac']],
  ['a.webm', ['-c:a', 'libopus']],
  ['vorbis.webm', ['-c:a', 'libvorbis']],
  ['a.m4a', []],
  ['front.m4a', ['-movflags', '+faststart']],
  ['fragments.mp4', ['-movflags', '+frag_keyframe+empty_moov']],
  ['alac.m4a', ['-c:a', 'alac']],
]

describe.if(hasFfmpeg)('the channels of real files are counted', () => {
  for (const [name, args] of containers)
    test(`in ${name}`, async () => {
      const found = [1, 2].map(async (channels) => channelsOf(name, await tone(name, channels, args)))
      expect(await Promise.all(found)).toEqual([1, 2])
    })

  for (const name of ['a.wav', 'a.flac', 'opus.ogg', 'a.m4a'])
    test(`of six in ${name}`, async () => {
      const codec = name.startsWith('opus') ? ['-c:a', 'libopus'] : []
      expect(await channelsOf(name, await tone(name, 6, codec))).toBe(6)
    })
})

test('headerless samples are mono, as the contract has them', async () => {
  expect(await channelsOf('a.pcm', new Uint8Array(3_200))).toBe(1)
})

test('a header with no channels, or with more than any recording has, is not believed', async () => {
  const wav = Buffer.concat([wavHeader(4, 16_000), new Uint8Array(4)])
  expect(await channelsOf('a.wav', wav)).toBe(1)
  wav.writeUInt16LE(65_535, 22)
  expect(await channelsOf('a.wav', wav)).toBeNull()
  wav.writeUInt16LE(0, 22)
  expect(await channelsOf('a.wav', wav)).toBeNull()
  expect(await channelsOf('a.mp3', Buffer.from('no sound at all, and no frame of it'))).toBeNull()
  expect(await channelsOf('a.xyz', Buffer.from('nothing known'))).toBeNull()
})
