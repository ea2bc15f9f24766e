import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { longestBusyMs } from '../../test/support/busy-thread.ts'
import { isThorough } from '../../test/support/thorough.ts'
import { toFormat, type StoredAudio } from '../canonical/audio.ts'
import { BoundedBlob, ReadLimitError, durationReadBytes } from './bounded-blob.ts'
import { estimateDurationMs, measureDuration } from './duration.ts'
import { sniffFormat } from './sniff.ts'
import { createSpool, storedInMemory } from './spool.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-audio-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const hasFfmpeg = Bun.which('ffmpeg') !== null
const hasEspeak = Bun.which('espeak-ng') !== null
if (!hasFfmpeg || !hasEspeak)
  console.warn('durations of real audio are not tested: ffmpeg or espeak-ng is not installed')

async function run(...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
  expect(await child.exited).toBe(0)
}

async function store(bytes: Uint8Array): Promise<StoredAudio> {
  const spool = createSpool({ folder, bytesMax: 1e9 })
  for (let offset = 0; offset < bytes.length; offset += 50_000)
    await spool.write(bytes.subarray(offset, offset + 50_000))
  return spool.finish()
}

/** Speech from text, 5 s, in the container that ffmpeg makes of these arguments. */
async function speech(name: string, args: string[]): Promise<Uint8Array> {
  const source = join(folder, 'speech.wav')
  if (!(await Bun.file(source).exists())) {
    await run(
      'espeak-ng',
      '-w',
      source,
      'The headrace carries water from the intake gate to the turbines. '.repeat(6),
    )
  }
  const target = join(folder, name)
  await run('ffmpeg', '-y', '-loglevel', 'error', '-i', source, '-t', '5', ...args, target)
  return new Uint8Array(await Bun.file(target).arrayBuffer())
}

const containers: [string, string[]][] = [
  ['a.wav', []],
  ['float.wav', ['-c:a', 'pcm_f32le', '-ar', '48000']],
  ['microsoft-adpcm.wav', ['-c:a', 'adpcm_ms', '-ar', '22050']],
  ['ima-adpcm.wav', ['-c:a', 'adpcm_ima_wav', '-ar', '22050', '-ac', '2']],
  ['a.mp3', ['-b:a', '64k']],
  ['vbr.mp3', ['-q:a', '7']],
  ['noheader.mp3', ['-q:a', '7', '-write_xing', '0']],
  ['cbr-noheader.mp3', ['-b:a', '48k', '-write_xing', '0']],
  ['a.flac', []],
  ['a.ogg', ['-c:a', 'libvorbis']],
  ['opus.ogg', ['-c:a', 'libopus']],
  ['flac.ogg', ['-c:a', 'flac']],
  ['a.m4a', ['-c:a', 'aac']],
  ['quicktime.m4a', ['-c:a', 'aac', '-f', 'mov']],
  ['fast.m4a', ['-c:a', 'aac', '-movflags', '+faststart']],
  ['fragments.m4a', ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '1000000']],
  ['a.webm', ['-c:a', 'libopus']],
  ['live.webm', ['-c:a', 'libopus', '-live', '1']],
  ['a.aac', ['-c:a', 'aac']],
]

describe.skipIf(!hasFfmpeg || !hasEspeak)('the duration of real audio', () => {
  test.each(containers)(
    'is found in %s',
    async (name, args) => {
      const stored = await store(await speech(name, args))
      const format = toFormat(name.split('.').at(-1) ?? '') ?? ''
      expect(sniffFormat(stored.head)).toBe(format)
      const milliseconds = await measureDuration({ format, stored })
      expect(milliseconds).toBeGreaterThan(4_800)
      // Encoders pad to whole frames, and a variable rate without a header is known from its frames.
      expect(milliseconds).toBeLessThan(5_300)
      await stored.dispose()
    },
    20_000,
  )

  test('is found in sound that hardly compresses', async () => {
    const target = join(folder, 'noise.ogg')
    const noise = [
      '-f',
      'lavfi',
      '-i',
      'aevalsrc=2*random(0)-1|2*random(1)-1:s=96000:d=5',
      '-sample_fmt',
      's32',
    ]
    await run('ffmpeg', '-y', '-loglevel', 'error', ...noise, '-c:a', 'flac', '-f', 'ogg', target)
    const stored = await store(new Uint8Array(await Bun.file(target).arrayBuffer()))
    expect(await measureDuration({ format: 'ogg', stored })).toBe(5_000)
    await stored.dispose()
  })

  test('is found in headerless samples by their number', async () => {
    const bytes = await speech('a.raw', ['-f', 's16le', '-ar', '16000', '-ac', '1'])
    const stored = await store(bytes)
    expect(await measureDuration({ format: 'pcm', stored })).toBe(5_000)
  }, 20_000)

  test('is found in a long file without keeping other work waiting', async () => {
    const bytes = await speech('long.mp3', ['-q:a', '7', '-write_xing', '0'])
    const stored = await store(new Uint8Array(Buffer.concat(Array.from({ length: 500 }, () => bytes))))
    let found: number | null = null
    const longestMs = await longestBusyMs(
      async () => (found = await measureDuration({ format: 'mp3', stored })),
    )
    await stored.dispose()
    expect(found).toBeGreaterThan(40 * 60_000)
    // The aim is 10 ms. Reading the whole file in one step would block for the whole time.
    expect(longestMs).toBeLessThan(250)
  }, 30_000)
})

describe('the duration of anything else', () => {
  test('is unknown, not an error', async () => {
    for (const text of [
      '',
      'hello',
      'RIFF\0\0\0\0WAVE',
      'OggS',
      'fLaC',
      'ID3',
      '\x1a\x45\xdf\xa3',
      '....ftypisom',
      '\xff\xfb',
    ]) {
      const bytes = new Uint8Array(Buffer.from(text, 'latin1'))
      const stored = storedInMemory({ sizeBytes: bytes.length, head: bytes }, bytes)
      for (const format of ['wav', 'mp3', 'ogg', 'webm', 'x'])
        expect(await measureDuration({ format, stored })).toBeNull()
    }
  })

  test('is unknown when a header claims what its size cannot hold', async () => {
    const bytes = new Uint8Array(1_000)
    const header = Buffer.from(
      'RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x01\0\0\0\x01\0\0\0\x02\0\x10\0data\0\0\0\0',
      'latin1',
    )
    bytes.set(header)
    const stored = storedInMemory({ sizeBytes: bytes.length, head: bytes.subarray(0, 64) }, bytes)
    expect(await measureDuration({ format: 'wav', stored })).toBeNull()
  })

  test('is estimated from above by size, for a hold', () => {
    expect(estimateDurationMs('pcm', 32_000)).toBe(1_000)
    expect(estimateDurationMs('mp3', 2_000)).toBe(1_000)
    expect(estimateDurationMs('mp3', 1e12)).toBe(86_400_000)
  })
})

describe('a spool', () => {
  test('keeps small audio in memory and large audio in a file that disposal removes', async () => {
    const small = await store(new Uint8Array(1_000_000))
    expect(await ownFiles()).toBe(0)
    const bytes = crypto.getRandomValues(new Uint8Array(60_000))
    const large = await store(new Uint8Array(Buffer.concat(Array.from({ length: 20 }, () => bytes))))
    expect(await ownFiles()).toBe(1)
    const pieces: Buffer[] = []
    for await (const piece of large.open()) pieces.push(Buffer.from(piece))
    const read = new Uint8Array(Buffer.concat(pieces))
    expect(read.length).toBe(1_200_000)
    expect(read.subarray(1_140_000)).toEqual(bytes)
    // A second attempt reads the same bytes, and a reader that stops early closes its file.
    const reader = large.open().getReader()
    expect((await reader.read()).value?.subarray(0, 5)).toEqual(bytes.subarray(0, 5))
    await reader.cancel()
    await large.dispose()
    await large.dispose()
    await small.dispose()
    expect(await ownFiles()).toBe(0)
  })

  test('refuses what is too large and leaves no file', async () => {
    const spool = createSpool({ folder, bytesMax: 2_000_000 })
    await spool.write(new Uint8Array(1_900_000))
    await expect(spool.write(new Uint8Array(100_001))).rejects.toMatchObject({ type: 'payload_too_large' })
    await spool.discard()
    expect(await ownFiles()).toBe(0)
  })

  test('makes its folder when there is none', async () => {
    const spool = createSpool({ folder: join(folder, 'gone'), bytesMax: 1e9 })
    await spool.write(new Uint8Array(2_000_000))
    const stored = await spool.finish()
    expect(stored.sizeBytes).toBe(2_000_000)
    await stored.dispose()
  })

  test('reports a folder that it cannot make as a storage failure', async () => {
    await writeFile(join(folder, 'file'), '')
    const spool = createSpool({ folder: join(folder, 'file', 'gone'), bytesMax: 1e9 })
    await expect(spool.write(new Uint8Array(2_000_000))).rejects.toMatchObject({
      type: 'storage_unavailable',
    })
  })
})

async function ownFiles(): Promise<number> {
  return (await readdir(folder)).filter((name) => name.startsWith('audio-')).length
}

test('a WAV file is as long as its samples, whatever byte rate it states', async () => {
  const bytes = Buffer.alloc(44 + 320_000)
  bytes.write('RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0', 'latin1')
  bytes.write('\x02\0\x10\0data\xff\xff\xff\xff', 32, 'latin1')
  for (const byteRate of [32_000, 1, 0xffff_ffff]) {
    bytes.writeUInt32LE(byteRate, 28)
    expect(await measureDuration({ format: 'wav', stored: await store(bytes) })).toBe(10_000)
  }
})

test('bytes that only look like frames cost a bounded time, and other work runs in between', async () => {
  const blob = new BoundedBlob(new Blob([new Uint8Array(durationReadBytes)]), durationReadBytes, 1)
  let turns = 0
  const others = setInterval(() => (turns += 1), 1)
  const ask = async () => {
    for (;;) await blob.read(0, 4)
  }
  const startMs = performance.now()
  expect(await ask().catch((error: unknown) => error)).toBeInstanceOf(ReadLimitError)
  clearInterval(others)
  expect(performance.now() - startMs).toBeLessThan(20_000)
  expect(turns).toBeGreaterThan(10)
})

describe.skipIf(!hasFfmpeg || !hasEspeak)('a length that a header states and the sound contradicts', () => {
  /** Writes `value` over `length` bytes at the first place after `mark`. */
  function forge(bytes: Uint8Array, mark: string, at: number, value: readonly number[]): Uint8Array {
    const forged = Buffer.from(bytes)
    const found = forged.indexOf(mark, 0, 'latin1')
    expect(found).toBeGreaterThanOrEqual(0)
    forged.set(value, found + at)
    return forged
  }

  /** Every page's position set to a hundredth of a second, as if the stream ended there. */
  function forgePages(bytes: Uint8Array): Uint8Array {
    const forged = Buffer.from(bytes)
    for (let at = forged.indexOf('OggS'); at >= 0; at = forged.indexOf('OggS', at + 4))
      if (forged.readBigInt64LE(at + 6) > 0n) forged.writeBigInt64LE(800n, at + 6)
    return forged
  }

  const measured = async (format: string, bytes: Uint8Array) => {
    const stored = await store(bytes)
    const found = await measureDuration({ format, stored })
    await stored.dispose()
    return found
  }

  test('of MP3 frames and of Opus packets is replaced by the sum of their durations', async () => {
    const mp3 = await speech('forged.mp3', ['-q:a', '7'])
    const opus = await speech('forged.ogg', ['-c:a', 'libopus', '-b:a', '6k'])
    const isRight = (found: number | null) => found !== null && found > 4_800 && found < 5_300
    expect(isRight(await measured('mp3', forge(mp3, 'Xing', 8, [0, 0, 0, 3])))).toBe(true)
    expect(isRight(await measured('ogg', forgePages(opus)))).toBe(true)
    // A picture of four megabytes before the sound is not counted as sound.
    const tag = Buffer.alloc(10 + 4_194_304)
    tag.set([0x49, 0x44, 0x33, 4, 0, 0, 2, 0, 0, 0])
    expect(isRight(await measured('mp3', Buffer.concat([tag, mp3])))).toBe(true)
  }, 20_000)

  test('of a large file is found just as quickly, without blocking other work', async () => {
    const opus = await speech('page.ogg', ['-c:a', 'libopus', '-b:a', '32k', '-page_duration', '200000'])
    const large = Buffer.concat(Array.from({ length: 3_000 }, () => opus))
    expect(large.length).toBeGreaterThan(50_000_000)
    let found: number | null = null
    const longestMs = await longestBusyMs(async () => (found = await measured('ogg', large)))
    expect(found).toBeGreaterThan(14_000_000)
    expect(found).toBeLessThan(15_600_000)
    expect(longestMs).toBeLessThan(250)
  }, 30_000)

  test('of other containers is believed as long as the codec can reach that bit rate', async () => {
    const seconds = isThorough ? 100 : 20
    const long = ['-t', `${seconds}`, '-af', 'aloop=loop=30:size=80000', '-ar', '16000']
    const isRight = (found: number | null) =>
      found !== null && found > seconds * 950 && found < seconds * 1_000 + 1_000
    const flac = await speech('forged.flac', long)
    expect(isRight(await measured('flac', flac))).toBe(true)
    expect(isRight(await measured('flac', forge(flac, 'fLaC', 22, [0, 0, 0, 100])))).toBe(true)
    // Another rate in the header, which the frames do not have.
    expect(await measured('flac', forge(flac, 'fLaC', 18, [0x9f, 0xff, 0x6f, 0xf0, 0, 0, 0, 100]))).toBeNull()
    const picture = Buffer.alloc(4 + 3_000_000)
    picture.set([6, 0x2d, 0xc6, 0xc0])
    const after = Buffer.concat([flac.subarray(0, 42), picture, flac.subarray(42)])
    expect(isRight(await measured('flac', after))).toBe(true)
    const m4a = await speech('forged.m4a', [...long, '-c:a', 'aac', '-b:a', '96k', '-movflags', '+faststart'])
    expect(isRight(await measured('m4a', m4a))).toBe(true)
    const short = forge(forge(m4a, 'mdhd', 20, [0, 0, 0, 100]), 'mvhd', 20, [0, 0, 0, 1])
    expect(isRight(await measured('m4a', short))).toBe(true)
    // The table of times as well: a hundred units for all samples together, one for each.
    const times = forge(short, 'stts', 12, [0, 0, 0, 100, 0, 0, 0, 0])
    expect(isRight(await measured('m4a', times))).toBe(true)
    const webm = await speech('forged.webm', [...long, '-c:a', 'libopus', '-b:a', '96k'])
    expect(isRight(await measured('webm', webm))).toBe(true)
    const header = forge(webm, '\x44\x89\x88', 3, [0x40, 0, 0, 0, 0, 0, 0, 0])
    expect(isRight(await measured('webm', header))).toBe(true)
    // Every cluster's time as well: all sound seems to lie in the first seconds.
    const clusters = Buffer.from(header)
    for (let at = clusters.indexOf('\x1f\x43\xb6\x75', 0, 'latin1'); at >= 0;) {
      const time = clusters.indexOf(0xe7, at + 4)
      clusters.fill(0, time + 2, time + 2 + ((clusters[time + 1] ?? 0) & 15))
      at = clusters.indexOf('\x1f\x43\xb6\x75', time, 'latin1')
    }
    expect(isRight(await measured('webm', clusters))).toBe(true)
    const adpcm = await speech('forged.wav', [...long, '-c:a', 'adpcm_ima_wav'])
    expect(isRight(await measured('wav', adpcm))).toBe(true)
    expect(await measured('wav', forge(adpcm, 'fmt ', 16, [0xff, 0xff, 0xff, 0x0f]))).toBeGreaterThan(
      seconds * 800,
    )
  }, 20_000)

  test('is believed of honest sound at the slowest and at the fastest rates', async () => {
    const noise = ['-af', 'aeval=random(0)*2-1', '-ac', '2']
    const files: [string, string[]][] = [
      ['slow.ogg', ['-c:a', 'libopus', '-b:a', '6k', '-application', 'voip', '-frame_duration', '60']],
      ['slow.mp3', ['-ar', '8000', '-ac', '1', '-b:a', '8k']],
      ['fast.mp3', [...noise, '-ar', '48000', '-b:a', '320k']],
      ['fast.ogg', [...noise, '-c:a', 'libopus', '-b:a', '510k']],
      ['fast.flac', [...noise, '-ar', '192000', '-sample_fmt', 's32']],
      ['fast.m4a', [...noise, '-ar', '96000', '-c:a', 'alac']],
      ['quick.m4a', [...noise, '-c:a', 'aac', '-b:a', '512k']],
      ['fast.webm', [...noise, '-c:a', 'libopus', '-b:a', '510k']],
      ['fast.wav', [...noise, '-ar', '192000', '-c:a', 'pcm_s32le']],
      ['slow.wav', ['-ar', '8000', '-ac', '1', '-c:a', 'adpcm_ima_wav']],
      ['ms.wav', ['-ar', '22050', '-ac', '2', '-c:a', 'adpcm_ms']],
    ]
    for (const [name, args] of files) {
      const found = await measured(name.split('.')[1] ?? '', await speech(name, args))
      expect([name, found !== null && found > 4_800 && found < 5_400]).toEqual([name, true])
    }
  }, 60_000)
})
