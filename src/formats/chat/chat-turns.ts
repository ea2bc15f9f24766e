import type {
  ImagePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/text/conversation.ts'
import { readCacheMark } from '../cache-mark.ts'
import { readMediaUrl } from '../media-source.ts'
import { isRecord } from './chat-media.ts'
import { readReasoning } from './chat-reasoning.ts'
import { textOrNull } from '../wire-values.ts'

type Wire = Readonly<Record<string, unknown>>

/** The messages as turns. `null` where a content may be is nothing said. */
export function readTurns(wire: unknown): Turn[] {
  if (!Array.isArray(wire)) return []
  const turns: Turn[] = []
  // The older members name no ids: a result belongs to the call before it.
  let lastCallId = ''
  for (const [index, message] of wire.filter(isRecord).entries()) {
    const turn = readTurn(message, { index, lastCallId })
    const call = turn.parts.findLast((part) => part.type === 'tool_call')
    if (call !== undefined) lastCallId = call.id
    turns.push(turn)
  }
  return turns
}

interface Place {
  index: number
  lastCallId: string
}

function readTurn(message: Wire, place: Place): Turn {
  const name = textOrNull(message['name'])
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readContent(message), name }
    case 'assistant':
      return { role: 'assistant', parts: readAssistant(message, place), name }
    case 'tool':
    case 'function':
      return { role: 'tool', parts: [readResult(message, place)], name: null }
    default:
      return { role: 'user', parts: readContent(message), name }
  }
}

/** Thoughts come before what was said, and what was said before what was called. */
function readAssistant(message: Wire, place: Place): Part[] {
  const { refusal } = message
  return [
    ...readReasoning(message),
    ...readContent(message),
    ...(typeof refusal === 'string' && refusal !== '' ? [{ type: 'refusal', text: refusal } as const] : []),
    ...readImages(message['images']),
    ...readCalls(message, place),
  ]
}

function readContent(message: Wire): Part[] {
  const { content } = message
  const cache = readCacheMark(message['cache_control'])
  if (typeof content === 'string') return [textPart(content, cache)]
  if (!Array.isArray(content)) return []
  const parts = content.map((part: unknown) =>
    isRecord(part) ? readPart(part) : textPart(String(part), null),
  )
  const last = parts.at(-1)
  if (cache !== null && last !== undefined) parts[parts.length - 1] = { ...last, cache }
  return parts
}

function textPart(text: string, cache: ReturnType<typeof readCacheMark>): TextPart {
  return { type: 'text', text, ...(cache === null ? {} : { cache }) }
}

function readPart(wire: Wire): Part {
  const part = readKnownPart(wire)
  const cache = readCacheMark(wire['cache_control'])
  return cache === null ? part : { ...part, cache }
}

/** A kind of part that this gateway does not know stays as it is, for a provider of the same format. */
function readKnownPart(wire: Wire): Part {
  const { text, image_url: image, input_audio: audio, file, refusal } = wire
  if (typeof text === 'string') return { type: 'text', text }
  if (image !== undefined) return readImage(image)
  if (isRecord(audio)) {
    return {
      type: 'audio',
      base64: textOrNull(audio['data']) ?? '',
      format: textOrNull(audio['format']) ?? 'wav',
    }
  }
  if (isRecord(file)) return readFile(file)
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

function readFile(wire: Wire): Part {
  const { file_data: data, file_id: id, filename } = wire
  return {
    type: 'file',
    source:
      typeof data === 'string'
        ? readMediaUrl(data, 'application/pdf')
        : { kind: 'provider_file', fileId: textOrNull(id) ?? '' },
    name: textOrNull(filename),
    context: null,
    citations: false,
  }
}

function readCalls(message: Wire, { index }: Place): ToolCallPart[] {
  const { tool_calls: calls, function_call: older } = message
  const read = Array.isArray(calls) ? calls.filter(isRecord).map(readCall) : []
  if (!isRecord(older)) return read
  return [...read, readCall({ id: `call_${index}`, function: older }, read.length)]
}

function readCall(wire: Wire, index: number): ToolCallPart {
  const { function: called, custom } = wire
  const id = textOrNull(wire['id']) ?? `call_${index}`
  if (isRecord(custom)) {
    const [name, input] = [textOrNull(custom['name']), textOrNull(custom['input'])]
    return { type: 'tool_call', id, name: name ?? '', arguments: input ?? '', kind: 'custom' }
  }
  const [name, given] = isRecord(called) ? [called['name'], called['arguments']] : [null, null]
  return {
    type: 'tool_call',
    id,
    name: textOrNull(name) ?? '',
    arguments: argumentsOf(given),
    kind: 'function',
  }
}

/** Arguments are a JSON text in the format; a few clients send the object itself. */
function argumentsOf(given: unknown): string {
  if (typeof given === 'string') return given
  return given === null || given === undefined ? '' : JSON.stringify(given)
}

function readResult(message: Wire, { lastCallId }: Place): ToolResultPart {
  const { cache_control: mark, ...rest } = message
  const cache = readCacheMark(mark)
  const content = readContent(rest).filter(
    (part) => part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'opaque',
  )
  return {
    type: 'tool_result',
    callId: textOrNull(message['tool_call_id']) ?? lastCallId,
    content,
    isError: false,
    ...(cache === null ? {} : { cache }),
  }
}
