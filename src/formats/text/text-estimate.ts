import { isAscii } from 'node:buffer'
import { textSampleBytes } from '../../core/limits/text.ts'

/** A text up to this size is first checked whole, by the runtime, which takes less time than the sample. */
const asciiCheckedBytesMax = 16_384

/**
 * The most tokens that JSON text is likely to have: one per 3 bytes, or per 2 bytes when most of the text is not ASCII.
 * It serves holds only and is later corrected by the provider's count; it is never billed.
 */
export function estimateTokens(bytes: Uint8Array, lengthBytes: number = bytes.length): number {
  return Math.ceil(Math.max(0, lengthBytes) / (isMostlyAscii(bytes) ? 3 : 2))
}

/** Looks at evenly spread bytes only, so that a megabyte costs no more than a few kilobytes. */
function isMostlyAscii(bytes: Uint8Array): boolean {
  if (bytes.length <= asciiCheckedBytesMax && isAscii(bytes)) return true
  const step = Math.max(1, Math.floor(bytes.length / textSampleBytes))
  let seen = 0
  let ascii = 0
  for (let at = 0; at < bytes.length; at += step) {
    seen += 1
    if ((bytes[at] ?? 0) < 0x80) ascii += 1
  }
  return ascii * 2 >= seen
}
