import { type BodyPiece, lengthOfPieces } from '../../../core/body.ts'
import type { MediaAddress, TextCall } from '../../../canonical/call.ts'
import { assert } from '../../../core/assert.ts'
import { mediaAddressLengthMax } from '../../../core/limits/media.ts'
import { isRecord } from '../../../json/values.ts'
import { editPieces } from '../../../json/document.ts'
import { type LookedInto, lookInto } from '../../../json/set-aside-texts.ts'
import {
  fileMark,
  fileSpotOfBlock,
  fileSpotOfChat,
  fileSpotOfInput,
  type Spot,
  toDataUrl,
} from './file-spots.ts'

/** The most bytes written as base64 in one step: larger steps would stall all other calls. */
const mediaStepBytes = 262_144

type Wire = Record<string, unknown>

/** The media at a URL, or of a file that the gateway keeps. */
export interface LoadedMedia {
  mediaType: string
  /** Its bytes in the pieces in which they came, because joining them would block the event loop. */
  chunks: readonly Uint8Array[]
  /** A name for a document whose request has none. */
  name: string
  /** The text of a file of text, for formats that take text as it is; absent for all others. */
  text?: string
}

/** What names media: a URL to fetch, or the id of a file that the gateway keeps. */
export type NamedBy = 'url' | 'file id'

/** The names of media in a request, in order and with repetitions. */
export function listAddresses(call: TextCall, by: NamedBy = 'url'): MediaAddress[] {
  return spotsOf(call, by)?.spots.map(({ url, kind, field }) => ({ url, kind, field })) ?? []
}

/**
 * The request with its names of media replaced by the media in `loaded`, in its caller's own format. Works in steps,
 * because media may be large. `nonce` is a text that the request surely does not contain.
 */
export function* placeMedia(
  call: TextCall,
  loaded: ReadonlyMap<string, LoadedMedia>,
  { nonce, by = 'url' }: { nonce: string; by?: NamedBy },
): Generator<void, Uint8Array> {
  const found = spotsOf(call, by)
  if (found === null) return call.document.bytes
  const placed: LoadedMedia[] = []
  for (const spot of found.spots) {
    const media = loaded.get(spot.url)
    if (media === undefined) continue
    const { mediaType, name } = media
    const text = media.text === undefined ? null : `${nonce}${textMark}${placed.length}${nonce}`
    spot.put({ mediaType, base64: `${nonce}${placed.length}${nonce}`, name, text })
    placed.push(media)
  }
  const value = found.looked.restore(JSON.stringify(found.value))
  const edited = editPieces(call.document, { set: { [found.member]: value } })
  return yield* join(edited.flatMap((piece) => fill(piece, placed, nonce)))
}

/** A piece of the body, or media that is written there as base64. */
type Filled = BodyPiece | LoadedMedia

/** Stands before the number of media that are placed as a text. */
const textMark = 't'

function fill(piece: BodyPiece, placed: readonly LoadedMedia[], nonce: string): Filled[] {
  if (typeof piece !== 'string') return [piece]
  return piece.split(nonce).map((part, index) => {
    if (index % 2 === 0) return part
    const isText = part.startsWith(textMark)
    const media = placed[Number(isText ? part.slice(textMark.length) : part)]
    assert(media, 'what is placed was loaded')
    return isText ? JSON.stringify(media.text).slice(1, -1) : media
  })
}

function* join(pieces: readonly Filled[]): Generator<void, Uint8Array> {
  let length = 0
  for (const piece of pieces)
    length += isMedia(piece) ? Math.ceil(lengthOfPieces(piece.chunks) / 3) * 4 : lengthOfPieces([piece])
  const target = Buffer.allocUnsafeSlow(length)
  let offset = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') offset += target.write(piece, offset)
    else if (!isMedia(piece)) {
      target.set(piece, offset)
      offset += piece.length
    } else {
      for (const text of base64InSteps(piece.chunks)) {
        offset += target.write(text, offset, 'latin1')
        yield
      }
    }
  }
  return target
}

/** Base64 of the chunks as if they were joined, in texts of bounded length. */
function* base64InSteps(chunks: readonly Uint8Array[]): Generator<string> {
  let rest: Uint8Array = new Uint8Array(0)
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += mediaStepBytes) {
      const step = Buffer.concat([rest, chunk.subarray(start, start + mediaStepBytes)])
      // Three bytes make four characters; left-over bytes go with the next chunk.
      const whole = step.length - (step.length % 3)
      yield step.toString('base64', 0, whole)
      rest = step.subarray(whole)
    }
  }
  if (rest.length > 0) yield Buffer.from(rest).toString('base64')
}

function isMedia(piece: Filled): piece is LoadedMedia {
  return typeof piece === 'object' && 'mediaType' in piece
}

interface Found {
  member: string
  looked: LookedInto
  /** The member's value, which the spots' `put` changes. */
  value: unknown
  spots: Spot[]
}

const members: Readonly<Partial<Record<string, string>>> = {
  chat: 'messages',
  messages: 'messages',
  responses: 'input',
}

function spotsOf({ format, document }: TextCall, by: NamedBy): Found | null {
  const member = members[format]
  const looked = member === undefined ? null : lookInto(document, member)
  if (member === undefined || looked === null) return null
  const mayHave =
    by === 'url' ? mayHaveAddress({ format, document }, looked) : looked.bytes.includes(fileMark)
  if (!mayHave) return null
  const value = looked.exactValue()
  if (!Array.isArray(value)) return null
  const read = (text: unknown): string | null => addressOf(text, looked)
  const spots = value.flatMap((entry: unknown, index) =>
    isRecord(entry) ? spotsOfEntry(entry, `${member}[${index}]`, { format, by, read }) : [],
  )
  return { member, looked, value, spots }
}

const addressMark = Buffer.from('://')

/** Bytes that stand beside a URL, by format. */
const spotMarks: Readonly<Partial<Record<string, readonly Buffer[]>>> = {
  chat: [Buffer.from('"image_url"'), Buffer.from('"file_data"'), Buffer.from('"file_url"')],
  messages: [Buffer.from('"source"')],
  responses: [Buffer.from('"input_image"'), Buffer.from('"input_file"')],
}

/**
 * Whether a conversation must be parsed to find URLs; for megabytes of text, parsing takes a tenth of a second. A lean
 * document has marks in place of longer texts, and such a text may be a URL too.
 */
function mayHaveAddress(
  { format, document }: Pick<TextCall, 'format' | 'document'>,
  { bytes }: LookedInto,
): boolean {
  if (document.lean === null && !bytes.includes(addressMark)) return false
  return spotMarks[format]?.some((mark) => bytes.includes(mark)) ?? false
}

/** The text if it is a URL to fetch. A `data:` URL has the bytes itself, and other schemes are for the provider. */
function addressOf(text: unknown, looked: LookedInto): string | null {
  if (typeof text !== 'string') return null
  const whole = looked.textOf(text, mediaAddressLengthMax)
  return whole !== null && /^[a-z][a-z0-9+.-]*:\/\//i.test(whole) ? whole : null
}

interface Reading {
  format: TextCall['format']
  by: NamedBy
  read: (text: unknown) => string | null
}

/** The spots of a message or an item: in its content, and in the output of a tool. */
function spotsOfEntry(entry: Wire, path: string, reading: Reading): Spot[] {
  return ['content', 'output'].flatMap((name) => {
    const parts = entry[name]
    if (!Array.isArray(parts)) return []
    return parts.flatMap((part: unknown, index) =>
      isRecord(part) ? spotsOfPart(part, `${path}.${name}[${index}]`, reading) : [],
    )
  })
}

function spotsOfPart(part: Wire, path: string, reading: Reading): Spot[] {
  switch (reading.format) {
    case 'chat':
      return spotsOfChat(part, path, reading)
    case 'responses':
      return spotsOfResponses(part, path, reading)
    case 'messages':
      // Results of tools have their own content.
      return [...spotsOfBlock(part, path, reading), ...spotsOfEntry(part, path, reading)]
    default:
      return []
  }
}

function spotsOfChat(part: Wire, path: string, { read, by }: Reading): Spot[] {
  if (by === 'file id') return fileSpotOfChat(part, path)
  const { image_url: image, file } = part
  const holder = isRecord(image) ? image : part
  const name = isRecord(image) ? 'url' : 'image_url'
  const url = read(holder[name])
  if (url !== null) {
    const field = isRecord(image) ? `${path}.image_url.url` : `${path}.image_url`
    return [{ url, kind: 'image', field, put: (media) => void (holder[name] = toDataUrl(media)) }]
  }
  if (part['file_url'] !== undefined) return spotsOfFileUrl(part, path, read)
  const fileUrl = isRecord(file) ? read(file['file_data']) : null
  if (!isRecord(file) || fileUrl === null) return []
  return [
    {
      url: fileUrl,
      kind: 'file',
      field: `${path}.file.file_data`,
      put(media) {
        file['file_data'] = toDataUrl(media)
        file['filename'] ??= media.name
      },
    },
  ]
}

/** The media at the URL of such a part becomes an ordinary file. */
function spotsOfFileUrl(part: Wire, path: string, read: Reading['read']): Spot[] {
  const { file_url: named } = part
  const url = read(isRecord(named) ? named['url'] : named)
  if (url === null) return []
  const put: Spot['put'] = (media) => {
    delete part['file_url']
    part['type'] = 'file'
    part['file'] = { file_data: toDataUrl(media), filename: media.name }
  }
  return [{ url, kind: 'file', field: isRecord(named) ? `${path}.file_url.url` : `${path}.file_url`, put }]
}

function spotsOfResponses(part: Wire, path: string, { read, by }: Reading): Spot[] {
  if (by === 'file id') return fileSpotOfInput(part, path)
  if (part['type'] === 'input_image') {
    const url = read(part['image_url'])
    if (url === null) return []
    const put: Spot['put'] = (media) => void (part['image_url'] = toDataUrl(media))
    return [{ url, kind: 'image', field: `${path}.image_url`, put }]
  }
  if (part['type'] !== 'input_file') return []
  const name = read(part['file_data']) === null ? 'file_url' : 'file_data'
  const url = read(part[name])
  if (url === null) return []
  return [
    {
      url,
      kind: 'file',
      field: `${path}.${name}`,
      put(media) {
        delete part['file_url']
        part['file_data'] = toDataUrl(media)
        part['filename'] ??= media.name
      },
    },
  ]
}

function spotsOfBlock(block: Wire, path: string, { read, by }: Reading): Spot[] {
  if (by === 'file id') return fileSpotOfBlock(block, path)
  const { type, source } = block
  const isKnown = type === 'image' || type === 'document'
  const url = isKnown && isRecord(source) && source['type'] === 'url' ? read(source['url']) : null
  if (url === null) return []
  return [
    {
      url,
      kind: type === 'image' ? 'image' : 'file',
      field: `${path}.source.url`,
      put({ mediaType, base64 }) {
        block['source'] = { type: 'base64', media_type: mediaType, data: base64 }
      },
    },
  ]
}
