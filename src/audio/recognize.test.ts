import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SoundFinding } from '../canonical/audio.ts'
import { audioHeadBytes } from '../core/limits/audio.ts'
import { recognizeSound } from './recognize.ts'
import { storedInMemory } from './spool.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-recognize-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function recognize(bytes: Uint8Array, stated: string | null): Promise<SoundFinding> {
  const facts = { sizeBytes: bytes.length, head: bytes.subarray(0, audioHeadBytes) }
  return recognizeSound(storedInMemory(facts, new Uint8Array(bytes)), stated)
}

const sound = (format: string): SoundFinding => ({ type: 'sound', format })
const other = (format: string): SoundFinding => ({ type: 'other_sound', format })
const latin1 = (text: string) => Buffer.from(text, 'latin1')

/** Frames of MPEG layer III at 64 kbit/s and 48,000 Hz: 192 bytes each. */
function mpeg(count: number): Buffer {
  const frame = Buffer.alloc(192, 0x55)
  frame.set([0xff, 0xfb, 0x54, 0xc4])
  return Buffer.concat(Array.from({ length: count }, () => frame))
}

/** Frames of AAC at 44,100 Hz: 100 bytes each. */
function adts(count: number): Buffer {
  const frame = Buffer.alloc(100, 0x55)
  frame.set([0xff, 0xf1, 0x50, 0x80, 100 >> 3, ((100 & 7) << 5) | 0x1f, 0xfc])
  return Buffer.concat(Array.from({ length: count }, () => frame))
}

function id3(tagBytes: number): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (tagBytes >> shift) & 0x7f)
  return Buffer.concat([latin1('ID3\x04\x00\x00'), Buffer.from(size), Buffer.alloc(tagBytes)])
}

const riff = latin1('RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00')
const ftyp = (brand: string) => latin1(`\x00\x00\x00\x18ftyp${brand}\x00\x00\x00\x00mp42isom`)

describe('the format that a sender states', () => {
  const agreed: [what: string, stated: string, bytes: Uint8Array, format: string][] = [
    ['WAV', 'wav', riff, 'wav'],
    ['WAV beyond 4 GB', 'wav', latin1('RF64\xff\xff\xff\xffWAVEds64'), 'wav'],
    ['WAV by another name of it', 'x-wav', riff, 'wav'],
    ['FLAC', 'flac', latin1('fLaC\x00\x00\x00\x22'), 'flac'],
    ['FLAC behind a tag', 'flac', Buffer.concat([id3(300), latin1('fLaC\x00\x00\x00\x22')]), 'flac'],
    ['Opus in Ogg', 'opus', latin1('OggS\x00\x02'), 'ogg'],
    ['WebM', 'webm', latin1('\x1a\x45\xdf\xa3\x9fB\x86\x81\x01'), 'webm'],
    ['MP4 that is called m4a', 'm4a', ftyp('M4A '), 'm4a'],
    ['MP4 that is called mp4', 'mp4', ftyp('isom'), 'm4a'],
    [
      'old QuickTime, which does not name itself',
      'm4a',
      latin1('\x00\x00\x00\x08wide\x00\x00\x10\x00mdat'),
      'm4a',
    ],
    ['MP3', 'mp3', mpeg(3), 'mp3'],
    ['one frame of MP3', 'mp3', mpeg(1), 'mp3'],
    ['one frame of MP3 and a closing tag', 'mp3', Buffer.concat([mpeg(1), latin1('TAGtitle')]), 'mp3'],
    ['MP3 that is cut off', 'mpeg', mpeg(3).subarray(0, 500), 'mp3'],
    ['MP3 behind a tag', 'mp3', Buffer.concat([id3(300), mpeg(2)]), 'mp3'],
    ['MP3 behind a large picture', 'mp3', Buffer.concat([id3(400_000), mpeg(2)]), 'mp3'],
    ['MP3 behind other bytes', 'mp3', Buffer.concat([Buffer.alloc(5_000, 1), mpeg(2)]), 'mp3'],
    ['AAC', 'aac', adts(3), 'aac'],
    ['AAC behind a tag', 'aac', Buffer.concat([id3(64), adts(2)]), 'aac'],
    ['AAC with one header for all', 'aac', latin1('ADIF\x80\x00\x01'), 'aac'],
    ['AAC as broadcasts have it', 'aac', latin1('\x56\xe0\x80\x20\x00\x11'), 'aac'],
    ['samples', 'pcm', Buffer.alloc(4_000), 'pcm'],
    [
      'loud samples',
      'pcm',
      Buffer.from(new Int16Array(500).map((_, at) => (at * 7919) % 32_000).buffer),
      'pcm',
    ],
    ['samples that look like frames', 'pcm', mpeg(3), 'pcm'],
    ['two samples that look like letters', 'pcm', latin1('abcd'), 'pcm'],
    ['a format that is not known', 'amr', latin1('#!AMR\n\x3c\x91\x17\x16\xbe'), 'amr'],
    ['another name of a known container', '3gp', ftyp('3gp4'), '3gp'],
  ]
  for (const [what, stated, bytes, format] of agreed) {
    test(`is the bytes’ own: ${what}`, async () => {
      expect(await recognize(bytes, stated)).toEqual(sound(format))
    })
  }

  const differing: [stated: string, bytes: Uint8Array, seen: string][] = [
    ['mp3', riff, 'wav'],
    ['pcm', riff, 'wav'],
    ['webm', ftyp('isom'), 'm4a'],
    ['mp3', Buffer.concat([id3(64), adts(2)]), 'aac'],
    ['aac', mpeg(3), 'mp3'],
    ['wav', mpeg(3), 'mp3'],
    ['ogg', latin1('\x1a\x45\xdf\xa3\x9fB\x86\x81\x01'), 'webm'],
    ['flac', latin1('OggS\x00\x02'), 'ogg'],
    ['mp3', latin1('fLaC\x00\x00\x00\x22'), 'flac'],
  ]
  for (const [stated, bytes, seen] of differing) {
    test(`may be ${stated} where the bytes are ${seen}`, async () => {
      expect(await recognize(bytes, stated)).toEqual(other(seen))
    })
  }
})

describe('bytes that are not sound', () => {
  const strangers: [what: string, bytes: Uint8Array, word: string | null][] = [
    ['a text', Buffer.from('These are minutes of a meeting, and no sound.'), 'text'],
    ['a text with letters of other alphabets', Buffer.from('Протокол заседания, 議事録'), 'text'],
    ['a text in UTF-16', Buffer.from(`\ufeff${'A text of Windows. '.repeat(30)}`, 'utf16le'), 'text'],
    ['a page', Buffer.from('<!DOCTYPE html>\n<html><body>404 Not Found</body></html>'), 'text'],
    ['JSON', Buffer.from('{"error":{"message":"expired link"}}'), 'text'],
    ['a PNG', Buffer.concat([latin1('\x89PNG\r\n\x1a\n'), Buffer.alloc(90)]), 'a PNG image'],
    ['a JPEG', Buffer.concat([latin1('\xff\xd8\xff\xe0'), Buffer.alloc(90)]), 'a JPEG image'],
    ['a PDF', latin1('%PDF-1.7\n\xe2\xe3\xcf\xd3\n'), 'a PDF'],
    ['a ZIP', latin1('PK\x03\x04\x14\x00\x00\x00\x08\x00'), 'a ZIP archive'],
  ]
  for (const [what, bytes, word] of strangers) {
    for (const stated of ['mp3', 'pcm', 'wav', 'amr', null]) {
      test(`are told from ${stated ?? 'sound of which nothing is stated'}: ${what}`, async () => {
        expect(await recognize(bytes, stated)).toEqual({ type: 'no_sound', what: word })
      })
    }
  }

  test('may also be of an unknown format', async () => {
    const noise = Buffer.from(Uint8Array.from({ length: 9_000 }, (_, at) => (at * 73 + (at >> 3)) & 0x7f))
    for (const stated of ['mp3', 'wav', 'flac', 'ogg', 'm4a', 'webm', 'aac', null])
      expect(await recognize(noise, stated)).toEqual({ type: 'no_sound', what: null })
    for (const bytes of [id3(300), Buffer.concat([id3(300), Buffer.alloc(900)]), ftyp('avif'), ftyp('heic')])
      expect(await recognize(bytes, 'mp3')).toEqual({ type: 'no_sound', what: null })
  })

  test('a text whose mark looks like a frame is no MP3', async () => {
    const bytes = Buffer.from(`\ufeff${'Hello there, this is Notepad. '.repeat(60)}`, 'utf16le')
    expect(await recognize(bytes, 'mp3')).toEqual({ type: 'no_sound', what: 'text' })
  })
})

const hasFfmpeg = Bun.which('ffmpeg') !== null
if (!hasFfmpeg) console.warn('NOT RUN: recognizing what ffmpeg writes, because ffmpeg is not installed')

describe.skipIf(!hasFfmpeg)('what ffmpeg writes', () => {
  const written: [file: string, format: string, options: string[]][] = [
    ['a.wav', 'wav', []],
    ['a.mp3', 'mp3', ['-b:a', '64k', '-metadata', 'title=Intake']],
    ['plain.mp3', 'mp3', ['-b:a', '32k', '-write_xing', '0', '-id3v2_version', '0']],
    ['a.flac', 'flac', []],
    ['a.m4a', 'm4a', ['-c:a', 'aac']],
    ['video.mp4', 'm4a', ['-c:a', 'aac']],
    ['a.ogg', 'ogg', ['-c:a', 'libvorbis']],
    ['a.opus', 'ogg', ['-c:a', 'libopus']],
    ['a.webm', 'webm', ['-c:a', 'libopus']],
    ['a.mka', 'webm', ['-c:a', 'libopus']],
    ['a.aac', 'aac', ['-c:a', 'aac']],
  ]
  for (const [file, format, options] of written) {
    test(`is known without a statement, and with its own: ${file}`, async () => {
      const path = join(folder, file)
      const { exitCode } = Bun.spawnSync(
        ['ffmpeg', '-v', 'error', '-y', '-f', 'lavfi', '-i', 'sine=440:d=1'].concat(options, path),
      )
      expect(exitCode).toBe(0)
      const bytes = new Uint8Array(await Bun.file(path).arrayBuffer())
      expect(await recognize(bytes, null)).toEqual(sound(format))
      expect(await recognize(bytes, format)).toEqual(sound(format))
      expect(await recognize(bytes, format === 'mp3' ? 'wav' : 'mp3')).toEqual(other(format))
      // A recording that broke off is still what it is.
      expect(await recognize(bytes.subarray(0, Math.floor(bytes.length * 0.6)), format)).toEqual(
        sound(format),
      )
    })
  }
})
