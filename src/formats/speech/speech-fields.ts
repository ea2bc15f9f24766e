import { isUtf8 } from 'node:buffer'
import { type JsonDocument, leanMemberValue, parseJsonDocument } from '../../json/document.ts'
import { toBuffer } from '../../json/bytes.ts'
import { hasFewValues, parseJsonBody, tooManyValues } from '../../json/json-body.ts'
import { notUtf8 } from '../../json/faults.ts'
import { leaveOutTexts, LookedInto, mark, slicesOfText, wholeText } from '../../json/set-aside-texts.ts'
import { GatewayError } from '../../core/errors.ts'
import { bodyValuesBytesMax, leanBodyBytesMin, setAsideTextBytesMin } from '../../core/limits/text.ts'
import { isRecord } from '../../json/values.ts'

/** A member of a speech request besides its clips: its text would be spoken for 18 hours. */
const speechFieldBytesMax = 1_000_000

/** The members of a speech request. */
export interface SpeechFields {
  /** The JSON body. In a large body the `data` of clips is not complete; `slicesOf` gives it whole. */
  fields: unknown
  /** The whole `data` of a clip, in slices of some hundred kilobytes. */
  slicesOf(data: string): Iterable<string>
}

/**
 * Parses a speech request; a large one in steps of a few milliseconds and without the sound of its clips. `known` has
 * the names of the members that are read. Throws `invalid_request`, or `payload_too_large` when the text is longer than
 * any provider speaks.
 */
export function* parseSpeechFields(
  bytes: Uint8Array,
  known: Readonly<Record<string, unknown>>,
): Generator<void, SpeechFields> {
  if (bytes.length < leanBodyBytesMin) return { fields: parseJsonBody(bytes), slicesOf: (data) => [data] }
  const lean = yield* leaveOutTexts(bytes)
  if (lean.bytes.length > bodyValuesBytesMax && !hasFewValues(toBuffer(bytes), fewValues))
    throw tooManyValues()
  if (!isUtf8(lean.bytes)) throw notUtf8()
  yield
  const document = parseJsonDocument(bytes, lean)
  requireSpeakable(document)
  yield
  const fields: [string, unknown][] = []
  for (const name of document.members.keys()) {
    const value = leanMemberValue(document, name)
    fields.push([name, Object.hasOwn(known, name) ? yield* wholeValue(value, name, document) : value])
  }
  return { fields: Object.fromEntries(fields), slicesOf: (data) => slicesOfText(data, document) }
}

/** The bounds are those of a body that is parsed whole. */
const fewValues = { textBytesMin: setAsideTextBytesMin, bytesMax: bodyValuesBytesMax }

/**
 * Refuses a large member other than the clips. No provider speaks hours of text in one request, and parsing megabytes
 * of text would block the event loop.
 */
function requireSpeakable({ members }: JsonDocument): void {
  for (const [name, { valueStart, valueEnd }] of members) {
    if (name !== clipsName && valueEnd - valueStart > speechFieldBytesMax) throw tooLarge(name.slice(0, 64))
  }
}

const clipsName = 'input_references'

/** A member with the set-aside texts put back, except the `data` of clips. */
function* wholeValue(value: unknown, name: string, document: JsonDocument): Generator<void, unknown> {
  if (typeof value === 'string') {
    if (!value.includes(mark)) return value
    yield
    return wholeTextOf(value, name, document)
  }
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) items.push(yield* wholeValue(item, name, document))
    return items
  }
  if (!isRecord(value)) return value
  const members: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const isSound = name === clipsName && key === 'data' && typeof member === 'string'
    members.push([key, isSound ? member : yield* wholeValue(member, name, document)])
  }
  return Object.fromEntries(members)
}

function wholeTextOf(text: string, name: string, document: JsonDocument): string {
  const { bytes, lean } = document
  if (lean === null) return text
  if (new LookedInto(document, name, Buffer.alloc(0)).lengthOf(text) > speechFieldBytesMax)
    throw tooLarge(name)
  const whole = wholeText(text, bytes, lean)
  if (whole.includes('\uFFFD') && !isUtf8(bytes)) throw notUtf8()
  return whole
}

function tooLarge(param: string): GatewayError {
  const message = `"${param}" is larger than ${speechFieldBytesMax} bytes. Send less at once.`
  return new GatewayError('payload_too_large', message, { param })
}
