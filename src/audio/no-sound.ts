import { textSampleBytes } from '../core/limits/audio.ts'

/** The beginnings of files that are sent by mistake, and their names. */
const others: readonly (readonly [signature: string, name: string])[] = [
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['%PDF-', 'a PDF'],
  ['PK\x03\x04', 'a ZIP archive'],
  ['\x1f\x8b\x08', 'gzip'],
  ['\x7fELF', 'a program'],
]

/** The name of the other kind of file that the bytes begin like, for an error; null for none. */
export function nameOfOther(begin: Uint8Array): string | null {
  const head = Buffer.from(begin.subarray(0, 16)).toString('latin1')
  return others.find(([signature]) => head.startsWith(signature))?.[1] ?? null
}

/**
 * Whether bytes are text, such as an error page that was saved as an audio file: UTF-8 with or without a byte order
 * mark, or UTF-16 with one.
 */
export function isText(begin: Uint8Array): boolean {
  const sample = begin.subarray(0, textSampleBytes)
  if (sample.length < textBytesMin) return false
  const isUtf16 = (sample[0] === 0xff && sample[1] === 0xfe) || (sample[0] === 0xfe && sample[1] === 0xff)
  const text = isUtf16
    ? decodeText(sample, sample[0] === 0xff ? 'utf-16le' : 'utf-16be')
    : decodeText(sample, 'utf-8')
  return text !== null && !/[^\P{C}\s\u200b-\u200f\ufeff]/u.test(text)
}

/** Fewer bytes of samples may look like letters by chance. */
const textBytesMin = 12

function decodeText(sample: Uint8Array, encoding: 'utf-8' | 'utf-16le' | 'utf-16be'): string | null {
  try {
    // The sample may end within a character.
    return new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
  } catch {
    return null
  }
}
