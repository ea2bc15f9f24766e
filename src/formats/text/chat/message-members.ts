import { isBracketed, skipElement, skipSpace, skipString, skipValue } from '../../../json/scan.ts'
import { isRecord } from '../../../json/values.ts'

const closeBracket = 0x5d
const comma = 0x2c
const openBracket = 0x5b
const quote = 0x22

/** The members of one kind of object that hosts know, and the inner objects whose members are checked too. */
export interface KnownMembers {
  names: ReadonlySet<string>
  inside: Readonly<Record<string, KnownMembers>>
  /** The same names as bytes, by length. */
  spelled: readonly (readonly KnownName[])[]
}

interface KnownName {
  bytes: Buffer
  members: KnownMembers | undefined
}

function known(names: readonly string[], inside: Record<string, KnownMembers> = {}): KnownMembers {
  const lengthMax = Math.max(...names.map((name) => name.length))
  const spelled = Array.from({ length: lengthMax + 1 }, (_, length) =>
    names
      .filter((name) => name.length === length)
      .map((name) => ({ bytes: Buffer.from(name), members: inside[name] })),
  )
  return { names: new Set(names), inside, spelled }
}

/**
 * The members of chat messages: those in OpenAI's documentation, and those that hosts and clients agree on. A host that
 * refuses one of them has a quirk for it.
 */
export const messageMembers = known(
  [
    'role',
    'content',
    'name',
    'refusal',
    'tool_calls',
    'tool_call_id',
    'function_call',
    'audio',
    'annotations',
    'images',
    'reasoning',
    'reasoning_content',
    'reasoning_details',
    'cache_control',
    // Marks the beginning of an answer that the model continues, on several hosts.
    'prefix',
  ],
  {
    content: known([
      'type',
      'text',
      'refusal',
      'image_url',
      'input_audio',
      'video_url',
      'document_url',
      'file',
      'file_id',
      'thinking',
      'cache_control',
      'prompt_cache_breakpoint',
    ]),
    tool_calls: known(['id', 'type', 'index', 'function', 'custom'], {
      function: known(['name', 'arguments']),
      custom: known(['name', 'input']),
    }),
  },
)

/** Whether parsed messages, and the objects inside them, have only known members. */
export function areKnown(value: unknown, members: KnownMembers = messageMembers): boolean {
  if (Array.isArray(value)) {
    for (const each of value) if (!areKnown(each, members)) return false
    return true
  }
  if (!isRecord(value)) return true
  for (const name in value) {
    if (!members.names.has(name)) return false
    const inside = members.inside[name]
    if (inside !== undefined && !areKnown(value[name], inside)) return false
  }
  return true
}

/**
 * Whether messages have an unknown member; tells it without building values. `bytes` are valid JSON, except for faults
 * that the provider may find.
 */
export function hasUnknownMember(bytes: Buffer): boolean {
  return bytes[0] === openBracket && scanList(bytes, 0, messageMembers) < 0
}

// The offset after the value, or -1 once an unknown name was found.
function scanList(bytes: Buffer, start: number, members: KnownMembers): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === closeBracket) return at + 1
  for (;;) {
    at = isBracketed(bytes, at) ? scanValue(bytes, at, members) : skipElement(bytes, at)
    if (at < 0) return at
    at = skipSpace(bytes, at)
    if (bytes[at] !== comma) return at + 1
    at = skipSpace(bytes, at + 1)
  }
}

function scanObject(bytes: Buffer, start: number, members: KnownMembers): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] !== quote) return skipValue(bytes, start)
  for (;;) {
    const nameEnd = skipString(bytes, at)
    const name = findName(bytes, at + 1, nameEnd - 1, members)
    if (name === undefined) return -1
    at = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1)
    at = scanValue(bytes, at, name.members)
    if (at < 0) return at
    at = skipSpace(bytes, at)
    if (bytes[at] !== comma) return at + 1
    at = skipSpace(bytes, at + 1)
  }
}

// Compares bytes by hand: a long conversation has hundreds of thousands of names, and making strings of them would cost
// most of the time.
function findName(
  bytes: Buffer,
  start: number,
  end: number,
  { spelled }: KnownMembers,
): KnownName | undefined {
  const names = spelled[end - start]
  if (names !== undefined) for (const name of names) if (isAt(bytes, start, name.bytes)) return name
  return undefined
}

function isAt(bytes: Buffer, start: number, text: Buffer): boolean {
  for (let at = 0; at < text.length; at += 1) if (bytes[start + at] !== text[at]) return false
  return true
}

function scanValue(bytes: Buffer, at: number, members: KnownMembers | undefined): number {
  if (members !== undefined && bytes[at] === openBracket) return scanList(bytes, at, members)
  if (members !== undefined && isBracketed(bytes, at)) return scanObject(bytes, at, members)
  return skipValue(bytes, at)
}
