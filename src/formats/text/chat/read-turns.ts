import type {
  ImagePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { readCacheMark } from '../cache-mark.ts'
import {
  argumentsOf,
  type ConversationReading,
  extrasOf,
  objectsOf,
  resultOf,
} from '../conversation-reading.ts'
import { fieldError } from '../../../core/errors.ts'
import { steppedMessagesMax } from '../../../core/limits/text.ts'
import { readMediaUrl } from '../media/media-source.ts'
import { isRecord, textOrNull } from '../../../json/values.ts'
import { readReasoning } from './reasoning.ts'

type Wire = Readonly<Record<string, unknown>>

/** The messages as turns. A content of `null` is empty. */
export function* readTurns(wire: unknown, reading: ConversationReading): Generator<void, Turn[]> {
  if (!Array.isArray(wire)) return []
  const turns: Turn[] = []
  // The older members have no ids: a result belongs to the call before it.
  let lastCallId = ''
  for (const [index, message] of wire.filter(isRecord).entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    const turn = readTurn(message, { index, lastCallId, reading })
    lastCallId = lastCallOf(turn.parts)?.id ?? lastCallId
    turns.push(turn)
  }
  return turns
}

function lastCallOf(parts: readonly Part[]): ToolCallPart | undefined {
  return parts.findLast((part) => part.type === 'tool_call')
}

interface Place {
  index: number
  lastCallId: string
  reading: ConversationReading
}

function readTurn(message: Wire, place: Place): Turn {
  const { role, name } = message
  const rest = place.reading.rest(message, messageMembers, 'messages[]')
  // Another name for the same role; only hosts of this format tell them apart.
  const extras = role === 'developer' || role === 'function' ? { ...rest, role } : rest
  const spoken = readSpoken(message, place)
  const turn = {
    role: spoken.role,
    parts: spoken.parts,
    name: textOrNull(name),
    place: `messages[${place.index}]`,
  }
  return extras === null ? turn : { ...turn, ...extrasOf('chat', extras) }
}

/** Members that every host of this format knows, and members that a conversation has a place for. */
const messageMembers: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'images',
  'audio',
  'cache_control',
])

function readSpoken(message: Wire, place: Place): Pick<Turn, 'role' | 'parts'> {
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readContent(message, place) }
    case 'assistant':
      return { role: 'assistant', parts: readAssistant(message, place) }
    case 'tool':
    case 'function':
      return { role: 'tool', parts: [readResult(message, place)] }
    default:
      return { role: 'user', parts: readContent(message, place) }
  }
}

/** In this order: thoughts, then text, then calls. */
function readAssistant(message: Wire, place: Place): Part[] {
  const { refusal, audio } = message
  return [
    ...readReasoning(message),
    ...readContent(message, place),
    ...(typeof refusal === 'string' && refusal !== '' ? [{ type: 'refusal', text: refusal } as const] : []),
    ...readImages(message['images']),
    // The provider keeps the sound of an earlier answer.
    ...(isRecord(audio)
      ? [{ type: 'opaque', format: 'chat', value: { type: 'audio', audio } } as const]
      : []),
    ...readCalls(message, place),
  ]
}

function readContent(message: Wire, { index, reading }: Place): Part[] {
  const { content } = message
  const cache = readCacheMark(message['cache_control'])
  if (typeof content === 'string') return [textPart(content, cache)]
  if (!Array.isArray(content)) return []
  const parts = content.map((part: unknown, at) => {
    if (typeof part === 'string') return textPart(part, null)
    if (isRecord(part)) return readPart(part, reading)
    throw fieldError(`messages[${index}].content[${at}]`, 'must be a part with a type.')
  })
  const last = parts.at(-1)
  if (cache !== null && last !== undefined) parts[parts.length - 1] = { ...last, cache }
  return parts
}

function textPart(text: string, cache: ReturnType<typeof readCacheMark>): TextPart {
  return cache === null ? { type: 'text', text } : { type: 'text', text, cache }
}

function readPart(wire: Wire, reading: ConversationReading): Part {
  const part = readKnownPart(wire, reading)
  const cache = readCacheMark(wire['cache_control'])
  const marked = cache === null ? part : { ...part, cache }
  if (part.type === 'opaque') return marked
  return { ...marked, ...extrasOf('chat', reading.rest(wire, partMembers, 'messages[].content[]')) }
}

const partMembers: ReadonlySet<string> = new Set([
  'type',
  'text',
  'image_url',
  'input_audio',
  'file',
  'file_url',
  'refusal',
  'cache_control',
])

/** A part of unknown type stays unchanged, for a provider of the same format. */
function readKnownPart(wire: Wire, reading: ConversationReading): Part {
  const { text, image_url: image, input_audio: audio, file, file_url: named, refusal } = wire
  if (typeof text === 'string') return { type: 'text', text }
  if (image !== undefined) return readImage(image)
  if (isRecord(audio)) {
    return {
      type: 'audio',
      base64: textOrNull(audio['data']) ?? '',
      format: textOrNull(audio['format']) ?? 'wav',
    }
  }
  if (isRecord(file)) return readFile(file, reading)
  if (named !== undefined) return readFile(toFile(named), reading)
  if (typeof refusal === 'string') return { type: 'refusal', text: refusal }
  return { type: 'opaque', format: 'chat', value: wire }
}

function readImage(wire: unknown): ImagePart {
  const url = isRecord(wire) ? wire['url'] : wire
  return {
    type: 'image',
    source: readMediaUrl(textOrNull(url) ?? '', 'image/png'),
    detail: isRecord(wire) ? textOrNull(wire['detail']) : null,
  }
}

function readImages(wire: unknown): ImagePart[] {
  if (!Array.isArray(wire)) return []
  return wire.filter(isRecord).map((image) => readImage(image['image_url']))
}

/** Perplexity has its own part for a file's URL. */
function toFile(named: unknown): Wire {
  return { file_data: isRecord(named) ? named['url'] : named }
}

function readFile(wire: Wire, reading: ConversationReading): Part {
  const { file_data: data, file_id: id, filename } = wire
  return {
    type: 'file',
    source:
      typeof data === 'string'
        ? reading.media(data, 'application/pdf')
        : { kind: 'provider_file', fileId: textOrNull(id) ?? '' },
    name: textOrNull(filename),
    context: null,
    citations: false,
  }
}

function readCalls(message: Wire, { index, reading }: Place): ToolCallPart[] {
  const { tool_calls: calls, function_call: older } = message
  const read = Array.isArray(calls)
    ? objectsOf(calls, `messages[${index}].tool_calls`, 'a call with an id and a function').map((call, at) =>
        readCall(call, at, reading),
      )
    : []
  if (!isRecord(older)) return read
  return [...read, readCall({ id: `call_${index}`, function: older }, read.length, reading)]
}

const callMembers: ReadonlySet<string> = new Set(['id', 'type', 'index', 'function', 'custom'])

function readCall(wire: Wire, index: number, reading: ConversationReading): ToolCallPart {
  const { function: called, custom } = wire
  const id = textOrNull(wire['id']) ?? `call_${index}`
  const extras = extrasOf('chat', reading.rest(wire, callMembers, 'messages[].tool_calls[]'))
  if (isRecord(custom)) {
    const [name, input] = [textOrNull(custom['name']), textOrNull(custom['input'])]
    return { type: 'tool_call', id, name: name ?? '', arguments: input ?? '', kind: 'custom', ...extras }
  }
  const [name, given] = isRecord(called) ? [called['name'], called['arguments']] : [null, null]
  return {
    type: 'tool_call',
    id,
    name: textOrNull(name) ?? '',
    arguments: argumentsOf(given, reading),
    kind: 'function',
    ...extras,
  }
}

function readResult(message: Wire, place: Place): ToolResultPart {
  const { index, lastCallId } = place
  const { cache_control: mark, ...rest } = message
  const cache = readCacheMark(mark)
  const content = resultOf(readContent(rest, place), `messages[${index}].content`)
  return {
    type: 'tool_result',
    callId: textOrNull(message['tool_call_id']) ?? lastCallId,
    content,
    isError: false,
    ...(cache === null ? {} : { cache }),
  }
}
