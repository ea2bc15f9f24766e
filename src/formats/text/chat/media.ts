import { unreadFileTokens } from '../../../core/limits/media.ts'
import { toBuffer } from '../../../json/bytes.ts'
import { isRecord } from '../../../json/values.ts'
import { isMediaItself, type MediaWeight, noMedia } from '../media/media-source.ts'

/** Tokens of an image of unknown size: a large one at full detail, as most providers count it. */
const imageTokens = 1_500

/** Tokens of an image at low detail. */
const lowDetailImageTokens = 100

/** Decoded bytes for each token of speech: 25 tokens a second, at 32 kB a second uncompressed and 4 kB compressed. */
const waveBytesPerToken = 1_280

const compressedBytesPerToken = 160

/** Decoded bytes for each token of a document; a page of 50 kB has about 2,500 tokens with its picture. */
const fileBytesPerToken = 20

/** Occur in parts with a URL, in sound from the caller or from an earlier answer, and in files. */
const marks = ['_url"', 'audio"', '"file'].map((text) => Buffer.from(text))

/** Whether messages may carry images, audio or files. The length of their encoding does not tell their tokens. */
export function mayCarryMedia(messages: Uint8Array): boolean {
  const buffer = toBuffer(messages)
  return marks.some((mark) => buffer.includes(mark))
}

/** Adds up the media of parsed messages. A part of unknown form counts as nothing; the provider judges it. */
export function weighMedia(
  messages: readonly unknown[],
  charactersOf: (text: string) => number = (text) => text.length,
): MediaWeight {
  const lengthOf = (value: unknown) => (typeof value === 'string' ? charactersOf(value) : 0)
  const total = { ...noMedia }
  for (const message of messages) {
    if (!isRecord(message)) continue
    const { content, audio } = message
    // Sound of an earlier answer, which the caller names by the id under which the provider keeps it.
    if (isRecord(audio)) total.isUncounted = true
    if (!Array.isArray(content)) continue
    for (const part of content) addPart(total, part, lengthOf)
  }
  return total
}

function addPart(total: MediaWeight, part: unknown, lengthOf: (value: unknown) => number): void {
  if (!isRecord(part)) return
  const { image_url: image, input_audio: audio, file, file_url: named } = part
  for (const name of Object.keys(part))
    if (name.endsWith('_url') && name !== 'image_url') total.isUncounted = true
  if (image !== undefined) {
    const url = isRecord(image) ? image['url'] : image
    if (isMediaItself(url)) total.images += 1
    else total.isUncounted = true
    total.bytes += lengthOf(url)
    total.tokens += isRecord(image) && image['detail'] === 'low' ? lowDetailImageTokens : imageTokens
  }
  if (isRecord(audio)) {
    const length = lengthOf(audio['data'])
    const format = audio['format']
    const isWave = format === 'wav' || format === 'pcm16'
    const tokens = tokensOf(length, isWave ? waveBytesPerToken : compressedBytesPerToken)
    total.bytes += length
    total.tokens += tokens
    total.audioTokens += tokens
  }
  if (isRecord(file)) addFile(total, file['file_data'], lengthOf)
  if (named !== undefined) addFile(total, isRecord(named) ? named['url'] : named, lengthOf)
}

function addFile(total: MediaWeight, file: unknown, lengthOf: (value: unknown) => number): void {
  const length = lengthOf(file)
  total.isUncounted = true
  total.bytes += length
  total.tokens += isAddress(file) ? unreadFileTokens : tokensOf(length, fileBytesPerToken)
}

function isAddress(text: unknown): boolean {
  return typeof text === 'string' && /^https?:/i.test(text)
}

/** Base64 carries three bytes in four characters. */
function tokensOf(encodedLength: number, bytesPerToken: number): number {
  return Math.ceil((encodedLength * 0.75) / bytesPerToken)
}
