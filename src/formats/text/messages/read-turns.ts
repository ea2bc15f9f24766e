import type {
  FilePart,
  MediaSource,
  Part,
  ReasoningPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { readCacheMark } from '../cache-mark.ts'
import { isRecord, textOrEmpty } from '../../../json/values.ts'
import { type ConversationReading, extrasOf, objectsOf, resultOf } from '../conversation-reading.ts'
import { fieldError } from '../../../core/errors.ts'
import { steppedMessagesMax } from '../../../core/limits/text.ts'
import { isDirect } from './pass-answer-required.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * The system texts and messages as turns. Results of tools, which stand in the user's messages here, become their own
 * turns.
 */
export function* readMessagesTurns(
  system: unknown,
  messages: unknown,
  reading: ConversationReading,
): Generator<void, Turn[]> {
  const instructions = readContent(system, { reading, path: 'system[]', place: 'system' })
  const turns: Turn[] =
    instructions.length === 0 ? [] : [{ role: 'system', parts: instructions, name: null, place: 'system' }]
  if (!Array.isArray(messages)) return turns
  for (const [index, message] of objectsOf(messages, 'messages', messageForm).entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    const { content } = message
    const at = { reading, path: 'messages[].content[]', place: `messages[${index}].content` }
    const isLong = Array.isArray(content) && content.length > steppedMessagesMax
    const parts = isLong ? yield* readBlocksInSteps(content, at) : readContent(content, at)
    turns.push(...turnsOf(message, parts, { reading, index }))
  }
  return turns
}

const messageForm = 'an object with a role and content'
const messageMembers: ReadonlySet<string> = new Set(['role', 'content'])

function turnsOf(
  message: Wire,
  parts: Part[],
  { reading, index }: { reading: ConversationReading; index: number },
): Turn[] {
  const { role } = message
  const told = {
    name: null,
    place: `messages[${index}]`,
    ...extrasOf('messages', reading.rest(message, messageMembers, 'messages[]')),
  }
  if (role === 'assistant' || role === 'system') return [{ role, parts, ...told }]
  const results = parts.filter((part) => part.type === 'tool_result')
  const others = parts.filter((part) => part.type !== 'tool_result')
  return [
    ...(results.length === 0 ? [] : [{ role: 'tool', parts: results, ...told } as const]),
    ...(others.length === 0 && results.length > 0 ? [] : [{ role: 'user', parts: others, ...told } as const]),
  ]
}

/** The request, the path under which unread members are noted, and the place that an error names. */
interface Place {
  reading: ConversationReading
  path: string
  place: string
}

function readContent(content: unknown, place: Place): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (content === null || content === undefined) return []
  if (!Array.isArray(content))
    throw fieldError(place.place, 'must be a string or an array of content blocks.')
  return objectsOf(content, place.place, blockForm).map((block, at) => readBlockAt(block, at, place))
}

const blockForm = 'a content block with a type'

/** The same with a pause after a number of blocks, so that other calls get their turn. */
function* readBlocksInSteps(content: readonly unknown[], place: Place): Generator<void, Part[]> {
  const parts: Part[] = []
  for (const [at, block] of objectsOf(content, place.place, blockForm).entries()) {
    if (at % steppedMessagesMax === steppedMessagesMax - 1) yield
    parts.push(readBlockAt(block, at, place))
  }
  return parts
}

function readBlockAt(block: Wire, at: number, place: Place): Part {
  return readBlock(block, { ...place, place: `${place.place}[${at}]` })
}

function readBlock(wire: Wire, place: Place): Part {
  const part = readKnownBlock(wire, place)
  if (part.type === 'opaque') return part
  const cache = readCacheMark(wire['cache_control'])
  const extras = extrasOf('messages', place.reading.rest(wire, knownMembers(wire, part), place.path))
  return { ...part, ...(cache === null ? {} : { cache }), ...extras }
}

/** Members of a block that a conversation has a place for. */
const blockMembers: ReadonlySet<string> = new Set([
  'type',
  'text',
  'source',
  'title',
  'context',
  'thinking',
  'signature',
  'data',
  'id',
  'name',
  'input',
  'tool_use_id',
  'content',
  'is_error',
  'cache_control',
])
/** A document's `citations` only asks for citations; those of a text are its sources. */
const documentMembers: ReadonlySet<string> = new Set([...blockMembers, 'citations'])
/** Answers name the caller of every tool call, even when it is the model. */
const directMembers: ReadonlySet<string> = new Set([...blockMembers, 'caller'])

function knownMembers({ caller }: Wire, { type }: Part): ReadonlySet<string> {
  if (type === 'file') return documentMembers
  return isDirect(caller) ? directMembers : blockMembers
}

/** A block that has no other place goes unchanged to a provider of the same format. */
function readKnownBlock(wire: Wire, place: Place): Part {
  switch (wire['type']) {
    case 'text':
      return { type: 'text', text: readText(wire, place) }
    case 'image':
      return withSource(wire, place, (source) => ({ type: 'image', source, detail: null }))
    case 'document':
      return readDocument(wire, place)
    case 'thinking':
      return readThinking(wire, place)
    case 'redacted_thinking':
      return readRedacted(wire, place)
    case 'tool_use':
      return {
        type: 'tool_call',
        id: textOrEmpty(wire['id']),
        name: textOrEmpty(wire['name']),
        arguments: JSON.stringify(place.reading.wholeValue(wire['input'] ?? {})),
        kind: 'function',
      }
    case 'tool_result':
      return readResult(wire, place)
    // A tool that a search found; it has only a name.
    case 'tool_reference':
      return { type: 'opaque', format: 'messages', value: wire, words: textOrEmpty(wire['tool_name']) }
    default:
      return { type: 'opaque', format: 'messages', value: wire }
  }
}

function readText({ text }: Wire, { place }: Place): string {
  if (typeof text === 'string') return text
  throw fieldError(`${place}.text`, 'must be a string.')
}

function withSource(wire: Wire, { reading }: Place, partOf: (source: MediaSource) => Part): Part {
  const source = readSource(wire['source'], reading)
  return source === null ? { type: 'opaque', format: 'messages', value: wire } : partOf(source)
}

function readSource(wire: unknown, reading: ConversationReading): MediaSource | null {
  if (!isRecord(wire)) return null
  const { type, media_type: mediaType, data, url, file_id: fileId } = wire
  if (type === 'base64' && typeof data === 'string')
    return {
      kind: 'data',
      mediaType: textOrEmpty(mediaType),
      base64: textOrEmpty(mediaType).startsWith('text/') ? reading.whole(data) : data,
    }
  if (type === 'url' && typeof url === 'string') return { kind: 'url', url }
  return type === 'file' && typeof fileId === 'string' ? { kind: 'provider_file', fileId } : null
}

function readDocument(wire: Wire, place: Place): Part {
  const { source, title, context, citations } = wire
  const described = {
    name: typeof title === 'string' ? title : null,
    context: typeof context === 'string' ? context : null,
    citations: isRecord(citations) && citations['enabled'] === true,
  }
  const plain = isRecord(source) && source['type'] === 'text' ? source['data'] : null
  if (typeof plain === 'string') {
    const part: FilePart = { type: 'file', source: { kind: 'text', text: plain }, ...described }
    return part
  }
  return withSource(wire, place, (read) => ({ type: 'file', source: read, ...described }))
}

function readThinking(wire: Wire, { reading }: Place): ReasoningPart {
  const text = textOrEmpty(wire['thinking'])
  const signature = textOrEmpty(wire['signature'])
  const bound = reading.bound(signature)
  if (bound === null) {
    const isSigned = signature !== ''
    return {
      type: 'reasoning',
      id: null,
      text,
      summary: null,
      signature: isSigned ? signature : null,
      sealed: null,
      origin: isSigned ? 'messages' : null,
    }
  }
  const shown = text === '' ? null : text
  // A provider shows only a summary of a thought that it seals, and the whole text of one that it signs.
  return bound.sealed === null
    ? { type: 'reasoning', ...bound, text: shown ?? bound.text, summary: null }
    : { type: 'reasoning', ...bound, text: null, summary: shown === null ? null : [shown] }
}

function readRedacted(wire: Wire, { reading }: Place): ReasoningPart {
  const data = textOrEmpty(wire['data'])
  const bound = reading.bound(data) ?? {
    id: null,
    signature: null,
    sealed: data,
    origin: 'messages' as const,
  }
  return { type: 'reasoning', ...bound, text: null, summary: null }
}

function readResult(wire: Wire, place: Place): ToolResultPart {
  const inner = `${place.place}.content`
  const content = resultOf(readContent(wire['content'], { ...place, place: inner }), inner)
  return {
    type: 'tool_result',
    callId: textOrEmpty(wire['tool_use_id']),
    content,
    isError: wire['is_error'] === true,
  }
}
