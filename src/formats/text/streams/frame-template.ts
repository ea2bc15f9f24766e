import { isUtf8 } from 'node:buffer'
import { fromUtf8, toUtf8, type ByteText } from '../../sse.ts'

/**
 * What the frames of one kind in a stream share: everything but the text the model just wrote. Most frames of a stream
 * differ in nothing else, so once one has been parsed and rewritten, the next are recognised and rewritten by copying.
 * A frame fits only when every byte outside the text is the same, so nothing can hide in it.
 */
export interface FrameTemplate {
  /** From `data:` up to the text's opening quote. */
  head: ByteText
  /** From the text's closing quote up to the padding's opening quote, or to the end. */
  tail: ByteText
  /** What follows the padding; null when the frames carry none. */
  end: ByteText | null
  shownHead: ByteText
  shownTail: ByteText
  shownEnd: ByteText | null
}

/** A frame that fitted a template. */
export interface FittedFrame {
  shown: ByteText
  /** Bytes of the model's text, JSON escapes as they stand. */
  textBytes: number
  /** Position after the frame and its empty line. */
  next: number
}

/** The frame at `start`, rewritten, when it fits; null otherwise. */
export function fitFrame(template: FrameTemplate, block: ByteText, start: number): FittedFrame | null {
  const { head, tail, end } = template
  if (!block.startsWith(head, start)) return null
  const textStart = start + head.length
  const textEnd = endOfSound(block, textStart)
  if (textEnd === -1 || !block.startsWith(tail, textEnd)) return null
  const text = block.slice(textStart, textEnd)
  const tailEnd = textEnd + tail.length
  if (end === null) {
    if (!block.startsWith('\n\n', tailEnd)) return null
    return {
      shown: template.shownHead + text + template.shownTail,
      textBytes: textEnd - textStart,
      next: tailEnd + 2,
    }
  }
  const paddingEnd = endOfSound(block, tailEnd)
  if (paddingEnd === -1 || !block.startsWith(end, paddingEnd)) return null
  const padding = block.slice(tailEnd, paddingEnd)
  const next = paddingEnd + end.length
  if (!block.startsWith('\n\n', next)) return null
  return {
    shown: template.shownHead + text + template.shownTail + padding + (template.shownEnd ?? ''),
    textBytes: textEnd - textStart,
    next: next + 2,
  }
}

/**
 * Position of the quote that closes a JSON string whose inside begins at `start`; -1 when there is none, or what is
 * inside would not parse or decode: that is left to those who find out. Nearly all of them are ASCII without escapes.
 */
export function endOfSound(block: ByteText, start: number): number {
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

/** Stands for the model's text and for the padding while the shown frame is written; no model writes control characters unescaped. */
const textMark = '\u0001text\u0001'
const paddingMark = '\u0001padding\u0001'
const encodedTextMark = JSON.stringify(textMark).slice(1, -1)
const encodedPaddingMark = JSON.stringify(paddingMark).slice(1, -1)

/** Where the model's text lies in a rewritten chunk. */
export interface TextSlot {
  /** The member's name upstream, such as `content` or `partial_json`. */
  name: SlotName
  value: string
  /** Puts another text in the same place of the chunk that will be shown. */
  put: (text: string) => void
}

/**
 * Learns from one frame that was rewritten the slow way. Null when its text cannot be found beyond doubt. The chunk is
 * left as it was.
 */
export function learnTemplate(
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
  const [shownHead, rest] = splitOnce(shown, encodedTextMark)
  const [shownTail, shownEnd] = padded === null ? [rest, null] : splitOnce(rest, encodedPaddingMark)
  return {
    head: frame.slice(0, text.start),
    tail: frame.slice(text.end, padded === null ? undefined : padded.start),
    end: padded === null ? null : frame.slice(padded.end),
    shownHead,
    shownTail: padded === null ? `${shownTail}\n\n` : shownTail,
    shownEnd: shownEnd === null ? null : `${shownEnd}\n\n`,
  }
}

/** The same of a frame that is shown as it came: of what it shares nothing changes. */
export function learnPassage(
  frame: ByteText,
  { name, value }: Pick<TextSlot, 'name' | 'value'>,
): FrameTemplate | null {
  const text = findString(frame, name, value)
  if (text === null) return null
  const head = frame.slice(0, text.start)
  const tail = frame.slice(text.end)
  return { head, tail, end: null, shownHead: head, shownTail: `${tail}\n\n`, shownEnd: null }
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
export function findString(
  frame: ByteText,
  name: keyof typeof memberPatterns,
  value: string,
): { start: number; end: number } | null {
  let found: { start: number; end: number } | null = null
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
