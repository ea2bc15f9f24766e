import { type BodyPiece, type BodyPieces, joinPieces } from '../core/body.ts'
import { GatewayError } from '../core/errors.ts'
import { jsonMembersMax } from '../core/limits/text.ts'
import { toBuffer } from './bytes.ts'
import { describePlace, findSyntaxFault, malformed, placeOf, type SyntaxFault } from './faults.ts'
import { MemberNames } from './names.ts'
import { skipElement, skipSpace, skipString, skipValue } from './scan.ts'
import { type JsonMember, parseSmallObject } from './small-object.ts'
import { parsePlainly, type WireRecord } from './values.ts'

// What this folder promises of every JSON text that comes from outside, and which file keeps the promise:
//
// - Depth. Nothing is parsed or written that is nested deeper than `jsonDepthMax` levels (`isNestedWithin`, `skipValue` in `scan.ts`).
// - Duplicates. No object of a request has a name twice, however the name is escaped (`requireUniqueNames` in `scan.ts`,
//   and a count of the names in `small-object.ts`).
// - Big integers. A number that JavaScript cannot hold goes on digit by digit (`parseExactly` in `values.ts`).
// - Exact bytes. What an edit does not name stays byte for byte (`editDocument`), and so do texts that are set aside
//   (`set-aside-texts.ts`).
// - Faults. A refusal tells line and column of the first fault, also where parts were left out (`faults.ts`).
// - Linear time. Every reader looks at each byte a fixed number of times, wherever the chunks of a stream are cut
//   (`split-stream.ts`).
// - No long turns. What may be megabytes is read in steps between which other calls have their turn, or without a
//   value being built (`set-aside-texts.ts`, `json-body.ts`).

const backslash = 0x5c
const closeBrace = 0x7d
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c
const letterN = 0x6e
const openBrace = 0x7b
const quote = 0x22

/**
 * Finds the top-level members of one JSON object without building values, so that its bytes can be passed on with small
 * edits. Keys are decoded; values are checked only for balanced brackets and closed strings, and `memberValue` parses
 * them. Throws `invalid_request` for anything but exactly one object, for a name that stands twice in any object, and
 * for nesting beyond the bound. A lean text is scanned instead of the whole one, unless the scan refuses it.
 */
export function parseJsonDocument(bytes: Uint8Array, lean: LeanJson | null = null): JsonDocument {
  const buffer = toBuffer(bytes)
  if (lean === null) {
    const small = parseSmallObject(buffer)
    const members = small === null ? scanDocument(buffer) : small.members
    return { bytes: buffer, members, values: small === null ? null : small.values, lean }
  }
  const leanMembers = scanLean(lean, buffer)
  const members = new Map<string, JsonMember>()
  for (const [name, { keyStart, valueStart, valueEnd }] of leanMembers) {
    members.set(name, {
      keyStart: toSourcePosition(keyStart, lean),
      valueStart: toSourcePosition(valueStart, lean),
      valueEnd: toSourcePosition(valueEnd, lean),
    })
  }
  return { bytes: buffer, members, values: null, lean: { ...lean, members: leanMembers } }
}

/** A fault around the left-out texts is reported by its place in the whole text. */
function scanLean(lean: LeanJson, whole: Buffer): Map<string, JsonMember> {
  try {
    return scanDocument(toBuffer(lean.bytes))
  } catch (thrown) {
    scanDocument(whole)
    throw thrown
  }
}

function scanDocument(buffer: Buffer): Map<string, JsonMember> {
  const members = new Map<string, JsonMember>()
  let position = skipSpace(buffer, 0)
  if (buffer[position] !== openBrace) {
    throw malformed(buffer, buffer.length === 0 ? 'it is empty' : 'it must be one JSON object', position)
  }
  position = skipSpace(buffer, position + 1)
  if (buffer[position] === closeBrace) position += 1
  else position = scanMembers(buffer, position, members)
  position = skipSpace(buffer, position)
  if (position < buffer.length) throw malformed(buffer, 'something follows the JSON object', position)
  return members
}

/** The position in the whole text of a position in the lean text, which must not lie inside a mark. */
function toSourcePosition(position: number, { texts }: LeanJson): number {
  let low = 0
  let high = texts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((texts[middle]?.leanEnd ?? 0) <= position) low = middle + 1
    else high = middle
  }
  const before = texts[low - 1]
  return before === undefined ? position : position - before.leanEnd + before.end
}

/** Scans `"key": value, …}` from the first key on and returns the position after the closing brace. */
function scanMembers(buffer: Buffer, start: number, members: Map<string, JsonMember>): number {
  const names = new MemberNames(buffer)
  let position = start
  for (;;) {
    if (buffer[position] !== quote) throw malformed(buffer, 'a member name in quotes was expected', position)
    const keyStart = position
    const keyEnd = skipString(buffer, position)
    position = skipSpace(buffer, keyEnd)
    if (buffer[position] !== colon) throw malformed(buffer, 'a colon was expected', position)
    const valueStart = skipSpace(buffer, position + 1)
    const valueEnd = skipValue(buffer, valueStart, names)
    const name = readKey(buffer, keyStart, keyEnd)
    if (members.size >= jsonMembersMax && !members.has(name))
      throw malformed(buffer, `it has more than ${jsonMembersMax} members`, keyStart)
    addMember(members, name, { keyStart, valueStart, valueEnd })
    position = skipSpace(buffer, valueEnd)
    const next = buffer[position]
    if (next === closeBrace) return position + 1
    if (next !== comma) throw malformed(buffer, 'a comma or a closing brace was expected', position)
    position = skipSpace(buffer, position + 1)
  }
}

function addMember(members: Map<string, JsonMember>, name: string, member: JsonMember): void {
  if (members.has(name)) {
    const shown = name.slice(0, 100)
    throw new GatewayError('invalid_request', `"${shown}" appears twice in the request body. Send it once.`, {
      param: shown,
    })
  }
  members.set(name, member)
}

function readKey(buffer: Buffer, start: number, end: number): string {
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = buffer[at] ?? 0
    if (byte === backslash || byte >= 0x80) return parseSlice(buffer, start, end, start) as string
  }
  return buffer.toString('latin1', start + 1, end - 1)
}

/** True when the member is present and not `null`, which the contract treats as absent. */
export function hasMember(document: JsonDocument, name: string): boolean {
  const member = document.members.get(name)
  return member !== undefined && document.bytes[member.valueStart] !== letterN
}

/** The bytes of a member's value, or null when it is absent; a view, not a copy. */
export function memberBytes(document: JsonDocument, name: string): Uint8Array | null {
  const member = document.members.get(name)
  return member === undefined ? null : document.bytes.subarray(member.valueStart, member.valueEnd)
}

/** A member's value, parsed; `undefined` when absent. Throws `invalid_request` naming the member when its JSON is broken. */
export function memberValue(document: JsonDocument, name: string, parse = parsePlainly): unknown {
  const member = document.members.get(name)
  if (member === undefined) return undefined
  if (document.values !== null && parse === parsePlainly) return document.values[name]
  const buffer = toBuffer(document.bytes)
  const { valueStart, valueEnd } = member
  try {
    return parse(buffer.toString('utf8', valueStart, valueEnd))
  } catch (cause) {
    throw brokenMember(document, name, { fault: findSyntaxFault(buffer, valueStart, valueEnd), cause })
  }
}

/** Like `memberValue`, with marks in place of the texts that a lean document leaves out. */
export function leanMemberValue(document: JsonDocument, name: string, parse = parsePlainly): unknown {
  const { lean } = document
  const member = lean?.members.get(name)
  if (!lean || member === undefined) return memberValue(document, name, parse)
  const buffer = toBuffer(lean.bytes)
  const { valueStart, valueEnd } = member
  try {
    return parse(buffer.toString('utf8', valueStart, valueEnd))
  } catch (cause) {
    const fault = findSyntaxFault(buffer, valueStart, valueEnd)
    const inWhole = fault && { ...fault, offset: toSourcePosition(fault.offset, lean) }
    throw brokenMember(document, name, { fault: inWhole, cause })
  }
}

function brokenMember(
  { bytes }: JsonDocument,
  name: string,
  { fault, cause }: { fault: SyntaxFault | null; cause: unknown },
): GatewayError {
  const where = fault ? `: ${fault.problem} (${describePlace(placeOf(bytes, fault.offset))})` : ''
  const message = `"${name}" is not valid JSON${where}. Correct it and send it again.`
  return new GatewayError('invalid_request', message, { param: name, cause })
}

function parseSlice(buffer: Buffer, start: number, end: number, at: number): unknown {
  try {
    return JSON.parse(buffer.toString('utf8', start, end))
  } catch {
    throw malformed(buffer, 'a member name is not a valid string', at)
  }
}

/** The changes to a document: JSON texts, bytes or pieces of both by member name, and names to remove. */
export interface DocumentEdits {
  set?: Readonly<Record<string, BodyPiece | BodyPieces>>
  remove?: readonly string[]
}

/**
 * The document with members replaced in place, added at the end, or removed; all other bytes are unchanged. Unchanged
 * parts are views of the document. A name that is both set and removed is set.
 */
export function editPieces(document: JsonDocument, { set = {}, remove = [] }: DocumentEdits): BodyPieces {
  const source = toBuffer(document.bytes)
  const { members } = document
  const pieces: BodyPiece[] = []
  // A comma or the opening brace. New members that follow are appended to this text, so that they form one piece.
  let text = '{'
  let runStart = -1
  let runEnd = -1
  for (const [name, member] of members) {
    const value = Object.hasOwn(set, name) ? set[name] : undefined
    const isKept = value === undefined && !remove.includes(name)
    if (isKept) {
      if (runStart === -1) runStart = member.keyStart
      runEnd = member.valueEnd
      continue
    }
    if (runStart !== -1) {
      pieces.push(text, source.subarray(runStart, runEnd))
      text = ','
      runStart = -1
    }
    if (value === undefined) continue
    text += source.toString('utf8', member.keyStart, member.valueStart)
    text = pushValue(pieces, text, value)
  }
  if (runStart !== -1) {
    pieces.push(text, source.subarray(runStart, runEnd))
    text = ','
  }
  for (const name in set) {
    const value = set[name]
    if (value === undefined || members.has(name) || !Object.hasOwn(set, name)) continue
    text = pushValue(pieces, `${text}${JSON.stringify(name)}:`, value)
  }
  pieces.push(text === '{' ? '{}' : `${text.slice(0, -1)}}`)
  return pieces
}

/** Pushes a value after the text before it, and returns the text that comes next. */
function pushValue(pieces: BodyPiece[], text: string, value: BodyPiece | BodyPieces): string {
  if (typeof value === 'string') return `${text}${value},`
  if (value instanceof Uint8Array) {
    pieces.push(text, value)
    return ','
  }
  let rest = text
  for (const piece of value) {
    if (typeof piece === 'string') rest += piece
    else {
      pieces.push(rest, piece)
      rest = ''
    }
  }
  return `${rest},`
}

/** The edited document in its own memory; see `editPieces`. */
export function editDocument(document: JsonDocument, edits: DocumentEdits): Uint8Array {
  return joinPieces(editPieces(document, edits))
}

/**
 * A JSON list with some elements replaced or removed. `edit` receives the bytes and the index of an element and returns
 * the new bytes, the same bytes, or null to remove it. `list` is valid JSON.
 */
export function editList(list: Buffer, edit: (element: Buffer, index: number) => Buffer | null): Buffer {
  const kept: Buffer[] = []
  for (const [index, element] of elementsOf(list).entries()) {
    const edited = edit(element, index)
    if (edited !== null) kept.push(kept.length === 0 ? opening : separator, edited)
  }
  return Buffer.concat([...(kept.length === 0 ? [opening] : kept), closing])
}

const opening = Buffer.from('[')
const separator = Buffer.from(',')
const closing = Buffer.from(']')

/** The bytes of each element of a valid JSON list. */
export function elementsOf(list: Buffer): Buffer[] {
  return [...eachElement(list)]
}

/** The same one by one, so that what follows the last one that is asked for is not read. */
export function* eachElement(list: Buffer): Generator<Buffer> {
  let at = skipSpace(list, 1)
  while (at < list.length && list[at] !== closeBracket) {
    const end = skipElement(list, at)
    yield list.subarray(at, end)
    at = skipSpace(list, end)
    if (list[at] === comma) at = skipSpace(list, at + 1)
  }
}

/**
 * A JSON object as the bytes that the caller sent, with the places of its top-level members, so that it can be passed
 * on with small edits.
 */
export interface JsonDocument {
  bytes: Uint8Array
  members: ReadonlyMap<string, JsonMember>
  /** The values of a small object, all parsed at once; null when each is parsed when it is read. */
  values: WireRecord | null
  /** The object without its longer texts, when it is too large to be parsed; otherwise null. */
  lean: (LeanJson & { members: ReadonlyMap<string, JsonMember> }) | null
}

/** A JSON text with short marks in place of its longer texts. */
export interface LeanJson {
  bytes: Uint8Array
  texts: readonly LeftOutText[]
}

/**
 * A left-out text: the offsets of its first byte and of the byte after its last in the whole text, and the end of its
 * mark in the lean text.
 */
export interface LeftOutText {
  start: number
  end: number
  leanEnd: number
}
