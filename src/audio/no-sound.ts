import { textSampleBytes } from '../core/limits/audio.ts'

/** How files that are sent by mistake begin, and what to call them. */
const others: readonly (readonly [signature: string, name: string])[] = [
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['%PDF-', 'a PDF'],
  ['PK\x03\x04', 'a ZIP archive'],
  ['\x1f\x8b\x08', 'gzip'],
  ['\x7fELF', 'a program'],
]

/** What bytes are that begin like a file of another kind, in the words of an error; null where they do not. */
export function nameOfOther(begin: Uint8Array): string | null {
  const head = Buffer.from(begin.subarray(0, 16)).toString('latin1')
  return others.find(([signature]) => head.startsWith(signature))?.[1] ?? null
}

/**
 * Whether bytes are text, such as the page of an error that was saved under the name of a sound. In UTF-8, with or
 * without a mark, or in UTF-16 with one.
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

/** Fewer bytes of samples may be letters by chance. */
const textBytesMin = 12

function decodeText(sample: Uint8Array, encoding: 'utf-8' | 'utf-16le' | 'utf-16be'): string | null {
  try {
    // The sample may end within a character.
    return new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
  } catch {
    return null
  }
}
