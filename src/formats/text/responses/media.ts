import { unreadFileTokens } from '../../../core/limits/media.ts'
import { isMediaItself, type MediaWeight, noMedia } from '../media/media-source.ts'
import { isRecord } from '../../../json/values.ts'
import { toBuffer } from '../../../json/bytes.ts'

/** Tokens of an image of unknown size: a large one at full detail. */
const imageTokens = 1_500
/** Decoded bytes for each token of a document; a page of 50 kB has about 2,500 tokens with its picture. */
const fileBytesPerToken = 20

const marks = ['"input_image"', '"input_file"'].map((text) => Buffer.from(text))

/** Whether an input may carry images or files. The length of their encoding does not tell their tokens. */
export function mayCarryInputs(input: Uint8Array): boolean {
  const buffer = toBuffer(input)
  return marks.some((mark) => buffer.includes(mark))
}

/**
 * Bytes of media to leave out of the text estimate, and tokens to add instead. Outputs of tools may carry media too.
 */
export function weighInputs(items: readonly unknown[], charactersOf: (text: string) => number): MediaWeight {
  const total = { ...noMedia }
  for (const item of items) {
    if (!isRecord(item)) continue
    const parts = [item['content'], item['output']].filter(Array.isArray).flat()
    for (const part of parts) addPart(total, part, charactersOf)
  }
  return total
}

function addPart(total: MediaWeight, part: unknown, charactersOf: (text: string) => number): void {
  if (!isRecord(part)) return
  const { type, image_url: image, file_data: file } = part
  if (type === 'input_image' && isMediaItself(image)) total.images += 1
  else if (type === 'input_image' || type === 'input_file') total.isUncounted = true
  if (type === 'input_image') {
    total.bytes += typeof image === 'string' ? charactersOf(image) : 0
    total.tokens += imageTokens
  } else if (type === 'input_file' && typeof file === 'string') {
    const length = charactersOf(file)
    total.bytes += length
    // Three bytes make four characters of base64.
    total.tokens += Math.ceil((length * 0.75) / fileBytesPerToken)
  } else if (type === 'input_file' && typeof part['file_url'] === 'string') total.tokens += unreadFileTokens
}
