import { isUtf8 } from 'node:buffer'
import { fromUtf8, toUtf8, type ByteText } from '../../sse.ts'

/**
 * What the frames of one kind in a stream share: everything but the text that the model just wrote, padding, and the number
 * of the frame. Most frames of a stream differ in nothing else, so once one has been parsed and rewritten, the next are
 * recognised and rewritten by copying. A frame fits only when every byte outside the holes is the same, so nothing can
 * hide in it.
 */
export interface FrameTemplate {
  readonly steps: readonly TemplateStep[]
  /** From behind the last hole to the end of the frame, its empty line included. */
  readonly rest: ByteText
  readonly shownRest: ByteText
}

interface TemplateStep {
  /** What stands before the hole. */
  before: ByteText
  shown: ByteText
  hole: Hole
}

/** What differs from one frame to the next. */
type Hole = 'text' | 'padding' | 'number'

/** A place in a block of frames; `fitFrame` moves it, so that no object is made for each frame. */
export interface FrameCursor {
  /** Where a frame begins. */
  position: number
  /** Under which number it is shown. */
  number: number
  /** The frame before `position` that fitted, rewritten. */
  shown: ByteText
  /** Inside of the JSON string that the model wrote in it, escapes as they stand: a character is a byte. */
  text: ByteText
}

/** Whether the frame at the cursor fits; the cursor is then behind it. */
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
 * Position of the quote that closes a JSON string whose inside begins at `start`; -1 when there is none, or what is
 * inside would not parse or decode: that is left to those who find out. Nearly all of them are ASCII without escapes.
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

/** Whether this is the inside of a JSON string in UTF-8: no raw control characters, every escape whole. */
function isSound(inside: ByteText): boolean {
  if (/[\x00-\x1f]/.test(inside)) return false
  if (/\\(?!["\\/bfnrt]|u[\dA-Fa-f]{4})/.test(inside.replaceAll('\\\\', '-'))) return false
  return isUtf8(Buffer.from(inside, 'latin1'))
}

/** Position of the quote that closes a JSON string whose inside begins at `start`; -1 when there is none. */
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

/** Position behind the digits that begin at `start`; -1 where JSON has no such number. */
function endOfNumber(block: ByteText, start: number): number {
  let at = start
  while (isDigit(block.charCodeAt(at))) at += 1
  const isNumber = at > start && (at === start + 1 || block.charCodeAt(start) !== 0x30)
  return isNumber ? at : -1
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Where the model's text lies in a frame. */
export interface FrameText {
  /** The member's name upstream, such as `content` or `partial_json`. */
  name: SlotName
  value: string
}

/** The same in a chunk that is shown otherwise than it came. */
export interface TextSlot extends FrameText {
  /** Puts another text in the same place of the chunk that will be shown. */
  put: (text: string) => void
}

/** Members of a frame that differ from one to the next: the text, and where a format has them padding and a number. */
export interface FrameMembers {
  text: FrameText
  padding?: string | undefined
  /** The value of `sequence_number`. */
  number?: number
}

/** Learns from a frame that is shown as it came, but for its number. Null when its parts cannot be found beyond doubt. */
export function learnPassed(
  frame: ByteText,
  { text, padding, number }: FrameMembers,
  /** The line that names the event, where the frame itself has none. */
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

/** The only number of the frame by that name, checked against its value; null when in doubt. */
function findNumber(frame: ByteText, value: number): Place | null {
  const [match, another] = frame.matchAll(/"sequence_number"\s*:\s*(\d+)(?=\s*[,}])/g)
  const [whole = '', digits = ''] = match ?? []
  if (match === undefined || another !== undefined || digits !== String(value)) return null
  const end = match.index + whole.length
  return { start: end - digits.length, end }
}

/** Stands for the model's text and for the padding while the shown frame is written; no model writes control characters unescaped. */
const textMark = '\u0001text\u0001'
const paddingMark = '\u0001padding\u0001'
const encodedTextMark = JSON.stringify(textMark).slice(1, -1)
const encodedPaddingMark = JSON.stringify(paddingMark).slice(1, -1)

/**
 * Learns from a frame that is shown as `chunk`. Null when its text cannot be found beyond doubt. The chunk is left as it
 * was.
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

/** The inside of the only string member of that name in a frame, checked against its value; null when in doubt. */
function findString(frame: ByteText, name: keyof typeof memberPatterns, value: string): Place | null {
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

function isStringOf(inside: ByteText, value: string): boolean {
  try {
    return JSON.parse(`"${toUtf8(inside)}"`) === value
  } catch {
    return false
  }
}
