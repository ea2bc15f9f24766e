import { unreadFileTokens } from '../../../core/limits/media.ts'
import { type MediaWeight, noMedia } from '../media/media-source.ts'
import { isRecord } from '../../../json/values.ts'
import { toBuffer } from '../../../json/bytes.ts'

/** Tokens of an image of unknown size: a large one, as Anthropic counts it. */
const imageTokens = 1_600
/** Decoded bytes for each token of a document; a page of 50 kB has about 2,500 tokens with its picture. */
const fileBytesPerToken = 20

const mark = Buffer.from('"source"')

/** Whether messages may carry images or documents. The length of their encoding does not tell their tokens. */
export function mayCarrySources(messages: Uint8Array): boolean {
  return toBuffer(messages).includes(mark)
}

/**
 * Bytes of media to leave out of the text estimate, and tokens to add instead. Results of tools may carry media too.
 */
export function weighSources(
  messages: readonly unknown[],
  charactersOf: (text: string) => number,
): MediaWeight {
  const total = { ...noMedia }
  for (const message of messages) addBlocks(total, message, charactersOf)
  return total
}

function addBlocks(total: MediaWeight, holder: unknown, charactersOf: (text: string) => number): void {
  const content = isRecord(holder) ? holder['content'] : null
  if (!Array.isArray(content)) return
  for (const block of content) {
    if (!isRecord(block)) continue
    const { type, source } = block
    if (type === 'tool_result') addBlocks(total, block, charactersOf)
    if (!isRecord(source)) continue
    const length = typeof source['data'] === 'string' ? charactersOf(source['data']) : 0
    const isPicture = type === 'image' && source['type'] === 'base64'
    if (isPicture) total.images += 1
    // The bytes of a document tell its length only when it is text.
    else if (source['type'] !== 'text' && source['type'] !== 'content') total.isUncounted = true
    if (type === 'image') {
      total.bytes += length
      total.tokens += imageTokens
    } else if (type === 'document' && source['type'] === 'base64') {
      total.bytes += length
      // Three bytes make four characters of base64.
      total.tokens += Math.ceil((length * 0.75) / fileBytesPerToken)
    } else if (type === 'document' && source['type'] === 'url') total.tokens += unreadFileTokens
  }
}
