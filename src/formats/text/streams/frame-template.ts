import { isUtf8 } from 'node:buffer'
import { fromUtf8, toUtf8, type ByteText } from '../../sse.ts'
import { isDigit } from '../../../json/bytes.ts'

/**
 * The common bytes of one kind of frame in a stream: everything except the model's new text, padding, and the frame's
 * number. Most frames differ in nothing else, so once one frame has been parsed and rewritten, the next ones are
 * recognised and rewritten by copying. A frame fits only when every byte outside the holes is the same, so nothing can
 * hide in it.
 */
export interface FrameTemplate {
  readonly steps: readonly TemplateStep[]
  /** From the last hole to the end of the frame, its empty line included. */
  readonly rest: ByteText
  readonly shownRest: ByteText
}

interface TemplateStep {
  /** The bytes before the hole. */
  before: ByteText
  shown: ByteText
  hole: Hole
}

/** The parts that differ between frames. */
type Hole = 'text' | 'padding' | 'number'

/** A position in a block of frames. `fitFrame` moves it, so that no object is made for each frame. */
export interface FrameCursor {
  /** The position where a frame begins. */
  position: number
  /** The number that the frame is shown with. */
  number: number
  /** The last frame that fitted, rewritten. */
  shown: ByteText
  /** The model's text in that frame, as the inside of a JSON string with its escapes, one character for each byte. */
  text: ByteText
}

/** Whether the frame at the cursor fits; the cursor then moves past it. */
export function fitFrame(template: FrameTemplate, block: ByteText, cursor: FrameCursor): boolean {
  const { steps, rest } = template
  let at = cursor.position
  let shown = ''
  let text = ''
  for (let index = 0; index < steps.length; index += 1) {
    const step = steps[index]
    if (step === undefined || !block.startsWith(step.before, at)) return false
    at += step.before.length
    const end = step.hole === 'number' ? endOfNumber(block, at) : endOfSound(block, at)
    if (end === -1) return false
    const inside = step.hole === 'number' ? String(cursor.number) : block.slice(at, end)
    if (step.hole === 'text') text = inside
    shown = index === 0 ? step.shown + inside : shown + step.shown + inside
    at = end
  }
  if (!block.startsWith(rest, at)) return false
  cursor.text = text
  cursor.shown = shown + template.shownRest
  cursor.position = at + rest.length
  return true
}

/**
 * The position of the closing quote of a JSON string whose inside begins at `start`; -1 when there is none, or when the
 * inside is not valid JSON or UTF-8: the parser then reports the fault. Nearly all strings are ASCII without escapes.
 */
function endOfSound(block: ByteText, start: number): number {
  for (let at = start; at < block.length; at += 1) {
    const byte = block.charCodeAt(at)
    if (byte === 0x22) return at
    if (byte >= 0x20 && byte < 0x80 && byte !== 0x5c) continue
    const end = endOfString(block, at)
    return end !== -1 && isSound(block.slice(start, end)) ? end : -1
  }
  return -1
}

/** Whether this is a valid inside of a JSON string in UTF-8: no raw control characters, and only complete escapes. */
function isSound(inside: ByteText): boolean {
  if (/[\x00-\x1f]/.test(inside)) return false
  if (/\\(?!["\\/bfnrt]|u[\dA-Fa-f]{4})/.test(inside.replaceAll('\\\\', '-'))) return false
  return isUtf8(Buffer.from(inside, 'latin1'))
}

/** The position of the closing quote of a JSON string whose inside begins at `start`; -1 when there is none. */
function endOfString(block: ByteText, start: number): number {
  let end = block.indexOf('"', start)
  while (end !== -1 && isEscaped(block, end, start)) end = block.indexOf('"', end + 1)
  return end
}

function isEscaped(block: ByteText, at: number, from: number): boolean {
  let count = 0
  while (at - 1 - count >= from && block.charCodeAt(at - 1 - count) === 0x5c) count += 1
  return count % 2 === 1
}

/** The position after the digits that begin at `start`; -1 when JSON does not allow such a number. */
function endOfNumber(block: ByteText, start: number): number {
  let at = start
  while (isDigit(block.charCodeAt(at))) at += 1
  const isNumber = at > start && (at === start + 1 || block.charCodeAt(start) !== 0x30)
  return isNumber ? at : -1
}

/** The member of a frame that holds the model's text. */
export interface FrameText {
  /** The member's name at the provider, such as `content` or `partial_json`. */
  name: SlotName
  value: string
}

/** The same member in a chunk that is rewritten. */
export interface TextSlot extends FrameText {
  /** Puts another text in the same place of the rewritten chunk. */
  put: (text: string) => void
}

/** The members that differ between frames: the text and, in some formats, padding and a number. */
export interface FrameMembers {
  text: FrameText
  padding?: string | undefined
  /** The value of `sequence_number`. */
  number?: number
}

/** Learns from a frame that passes unchanged except for its number. Null when it is uncertain where its parts lie. */
export function learnPassed(
  frame: ByteText,
  { text, padding, number }: FrameMembers,
  /** The line that names the event, if the frame itself has none. */
  lead: ByteText = '',
): FrameTemplate | null {
  const places: { hole: Hole; place: Place | null }[] = [
    { hole: 'text', place: findString(frame, text.name, text.value) },
  ]
  if (number !== undefined) places.push({ hole: 'number', place: findNumber(frame, number) })
  if (padding !== undefined)
    places.push({ hole: 'padding', place: findString(frame, 'obfuscation', padding) })
  const steps: TemplateStep[] = []
  let from = 0
  for (const { hole, place } of places.toSorted((left, right) => startOf(left) - startOf(right))) {
    if (place === null || place.start < from) return null
    const before = frame.slice(from, place.start)
    steps.push({ before, shown: from === 0 ? lead + before : before, hole })
    from = place.end
  }
  const rest = `${frame.slice(from)}\n\n`
  return { steps, rest, shownRest: rest }
}

interface Place {
  start: number
  end: number
}

function startOf({ place }: { place: Place | null }): number {
  return place?.start ?? -1
}

/** The place of the frame's only number of that name, checked against its value; null when uncertain. */
function findNumber(frame: ByteText, value: number): Place | null {
  const [match, another] = frame.matchAll(/"sequence_number"\s*:\s*(\d+)(?=\s*[,}])/g)
  const [whole = '', digits = ''] = match ?? []
  if (match === undefined || another !== undefined || digits !== String(value)) return null
  const end = match.index + whole.length
  return { start: end - digits.length, end }
}

/**
 * Stand for the model's text and the padding while the shown frame is written; a model's text never has unescaped
 * control characters.
 */
const textMark = '\u0001text\u0001'
const paddingMark = '\u0001padding\u0001'
const encodedTextMark = JSON.stringify(textMark).slice(1, -1)
const encodedPaddingMark = JSON.stringify(paddingMark).slice(1, -1)

/**
 * Learns from a frame that is shown as `chunk`. Null when it is uncertain where its text lies. The chunk is not
 * changed.
 */
export function learnRewritten(
  frame: ByteText,
  chunk: Record<string, unknown>,
  slot: TextSlot,
): FrameTemplate | null {
  const text = findString(frame, slot.name, slot.value)
  if (text === null) return null
  const padding = chunk['obfuscation']
  const padded = typeof padding === 'string' ? findString(frame, 'obfuscation', padding) : null
  if (typeof padding === 'string' && (padded === null || padded.start < text.end)) return null
  const shown = writeWithMarks(chunk, slot, padded !== null)
  const [shownHead, behind] = splitOnce(shown, encodedTextMark)
  const first: TemplateStep = { before: frame.slice(0, text.start), shown: shownHead, hole: 'text' }
  if (padded === null)
    return { steps: [first], rest: `${frame.slice(text.end)}\n\n`, shownRest: `${behind}\n\n` }
  const [shownTail, shownEnd] = splitOnce(behind, encodedPaddingMark)
  const second: TemplateStep = {
    before: frame.slice(text.end, padded.start),
    shown: shownTail,
    hole: 'padding',
  }
  return { steps: [first, second], rest: `${frame.slice(padded.end)}\n\n`, shownRest: `${shownEnd}\n\n` }
}

function writeWithMarks(chunk: Record<string, unknown>, slot: TextSlot, isPadded: boolean): ByteText {
  const padding = chunk['obfuscation']
  slot.put(textMark)
  if (isPadded) chunk['obfuscation'] = paddingMark
  const shown = `data: ${fromUtf8(JSON.stringify(chunk))}`
  slot.put(slot.value)
  if (isPadded) chunk['obfuscation'] = padding
  return shown
}

function splitOnce(text: ByteText, mark: string): [ByteText, ByteText] {
  const at = text.indexOf(mark)
  return [text.slice(0, at), text.slice(at + mark.length)]
}

type SlotName =
  | 'content'
  | 'reasoning'
  | 'reasoning_content'
  | 'arguments'
  | 'text'
  | 'thinking'
  | 'partial_json'
  | 'delta'

const memberPatterns: Readonly<Record<SlotName | 'obfuscation', RegExp>> = {
  content: /"content"\s*:\s*"/g,
  reasoning: /"reasoning"\s*:\s*"/g,
  reasoning_content: /"reasoning_content"\s*:\s*"/g,
  arguments: /"arguments"\s*:\s*"/g,
  text: /"text"\s*:\s*"/g,
  thinking: /"thinking"\s*:\s*"/g,
  partial_json: /"partial_json"\s*:\s*"/g,
  delta: /"delta"\s*:\s*"/g,
  obfuscation: /"obfuscation"\s*:\s*"/g,
}

/** The inside of the frame's only string member of that name, checked against its value; null when uncertain. */
function findString(frame: ByteText, name: keyof typeof memberPatterns, value: string): Place | null {
  const plain = findPlain(frame, name, value)
  if (plain !== null) return plain
  let found: Place | null = null
  for (const match of frame.matchAll(memberPatterns[name])) {
    if (found !== null) return null
    const start = match.index + match[0].length
    const end = endOfString(frame, start)
    if (end === -1) return null
    found = { start, end }
  }
  if (found === null) return null
  return isStringOf(frame.slice(found.start, found.end), value) ? found : null
}

/**
 * The same for a member whose name stands once in the frame, written without blanks, and whose value needs no escapes,
 * as nearly always; null otherwise. Searching for texts takes a third of the time that a pattern takes.
 */
function findPlain(frame: ByteText, name: string, value: string): Place | null {
  const start = frame.indexOf(`"${name}":"`) + name.length + 4
  if (
    start < name.length + 4 ||
    !frame.startsWith(value, start) ||
    frame.lastIndexOf(`"${name}"`) !== start - name.length - 4
  )
    return null
  const end = start + value.length
  return frame.charCodeAt(end) === 0x22 && isPlainText(value) ? { start, end } : null
}

/** Whether a text is the same inside of a JSON string: ASCII without quotes, backslashes and control characters. */
function isPlainText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20 || unit >= 0x80 || unit === 0x22 || unit === 0x5c) return false
  }
  return true
}

function isStringOf(inside: ByteText, value: string): boolean {
  try {
    return JSON.parse(`"${toUtf8(inside)}"`) === value
  } catch {
    return false
  }
}
