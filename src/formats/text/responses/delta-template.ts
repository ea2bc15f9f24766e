import { endOfSound, findString } from '../streams/frame-template.ts'
import type { ByteText } from '../../sse.ts'

type Wire = Readonly<Record<string, unknown>>

/** What differs from one delta of a part to the next. */
type Hole = 'text' | 'padding' | 'number'

/**
 * What the deltas of one part share: everything but the text, the padding and the number of the frame, in whatever order a
 * host writes them. A frame fits only when every byte outside of them is the same, so nothing can hide in it.
 */
export interface DeltaTemplate {
  /** What stands before each hole, and the hole. */
  steps: readonly { before: ByteText; hole: Hole }[]
  /** From behind the last hole to the end of the frame. */
  rest: ByteText
  /** The line that names the event, where the frames themselves have none. */
  lead: ByteText
  /** What is shown in place of `rest`: with the list that clients require and this host leaves out; null for `rest` itself. */
  shownRest: ByteText | null
}

/** A frame that fitted. */
export interface FittedDelta {
  /** With the number that was asked for. */
  shown: ByteText
  /** Inside of the JSON string that the model wrote. */
  text: ByteText
  /** Position after the frame and its empty line. */
  next: number
}

/** Learns from one frame that was read. Null when its parts cannot be found beyond doubt. */
export function learnDelta(frame: ByteText, wire: Wire): DeltaTemplate | null {
  const { type, delta, obfuscation, sequence_number: number, logprobs } = wire
  const isPlain = logprobs === undefined || (Array.isArray(logprobs) && logprobs.length === 0)
  if (!isPlain || typeof delta !== 'string' || typeof number !== 'number') return null
  const places = [
    { hole: 'text' as const, place: findString(frame, 'delta', delta) },
    { hole: 'number' as const, place: findNumber(frame, number) },
    ...(typeof obfuscation === 'string'
      ? [{ hole: 'padding' as const, place: findString(frame, 'obfuscation', obfuscation) }]
      : []),
  ]
  const steps: DeltaTemplate['steps'][number][] = []
  let from = 0
  for (const { hole, place } of places.toSorted((left, right) => startOf(left) - startOf(right))) {
    if (place === null || place.start < from) return null
    steps.push({ before: frame.slice(from, place.start), hole })
    from = place.end
  }
  const lead = frame.startsWith('event:') ? '' : `event: ${String(type)}\n`
  const rest = frame.slice(from)
  const isBare = type === 'response.output_text.delta' && logprobs === undefined
  return { steps, rest, lead, shownRest: isBare ? withLogprobs(rest) : null }
}

function withLogprobs(rest: ByteText): ByteText {
  const end = rest.lastIndexOf('}')
  return `${rest.slice(0, end)},"logprobs":[]${rest.slice(end)}`
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

/** The frame at `start` under this number, when it fits; null otherwise. */
export function fitDelta(
  { steps, rest, lead, shownRest }: DeltaTemplate,
  block: ByteText,
  { start, number }: { start: number; number: number },
): FittedDelta | null {
  let at = start
  let text = ''
  let copied = start
  let shown = lead
  for (const { before, hole } of steps) {
    if (!block.startsWith(before, at)) return null
    at += before.length
    const end = hole === 'number' ? endOfNumber(block, at) : endOfSound(block, at)
    if (end === -1) return null
    if (hole === 'text') text = block.slice(at, end)
    if (hole === 'number') {
      shown += block.slice(copied, at) + String(number)
      copied = end
    }
    at = end
  }
  const next = at + rest.length + 2
  if (!block.startsWith(rest, at) || !block.startsWith('\n\n', next - 2)) return null
  if (shownRest === null) return { shown: shown + block.slice(copied, next), text, next }
  return { shown: `${shown}${block.slice(copied, at)}${shownRest}\n\n`, text, next }
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
