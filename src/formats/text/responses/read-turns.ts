import type {
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { isRecord, textOrEmpty } from '../../../json/values.ts'
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
import { flatToolName } from './tool-namespaces.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * The instructions and the input as turns. The format lists items one by one; consecutive items of one side become one
 * turn.
 */
export function* readInput(
  instructions: unknown,
  input: unknown,
  reading: ConversationReading,
): Generator<void, Turn[]> {
  const turns: Turn[] = []
  if (typeof instructions === 'string' && instructions !== '')
    turns.push(turnOf('system', [{ type: 'text', text: instructions }], 'instructions'))
  if (typeof input === 'string') return [...turns, turnOf('user', [{ type: 'text', text: input }], 'input')]
  if (!Array.isArray(input)) return turns
  const isJoined = (role: Turn['role']) =>
    (role === 'assistant' || role === 'tool') && turns.at(-1)?.role === role
  let open: Part[] = []
  for (const [index, item] of objectsOf(input, 'input', 'an object').entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    const place = `input[${index}]`
    const { role, parts } = readItem(item, { reading, place })
    if (!isJoined(role)) {
      open = []
      turns.push(turnOf(role, open, place))
    }
    open.push(...parts)
  }
  return turns
}

function turnOf(role: Turn['role'], parts: Part[], place: string): Turn {
  return { role, parts, name: null, place }
}

/** Members of an item that a conversation has a place for, and members that only describe the item's earlier answer. */
const itemMembers: ReadonlySet<string> = new Set([
  'type',
  'role',
  'content',
  'id',
  'status',
  'phase',
  'call_id',
  'namespace',
  'name',
  'arguments',
  'input',
  'output',
  'summary',
  'encrypted_content',
])
const partMembers: ReadonlySet<string> = new Set([
  'type',
  'text',
  'refusal',
  'image_url',
  'file_id',
  'detail',
  'file_data',
  'file_url',
  'filename',
  'logprobs',
])

/** The place of an item, for the names in errors. */
interface Place {
  reading: ConversationReading
  place: string
}

function readItem(item: Wire, at: Place): { role: Turn['role']; parts: Part[] } {
  const read = readKnownItem(item, at)
  if (read.parts[0]?.type !== 'opaque') at.reading.rest(item, itemMembers, 'input[]')
  return read
}

function readKnownItem(item: Wire, at: Place): { role: Turn['role']; parts: Part[] } {
  const { type = 'message' } = item
  switch (type) {
    case 'message':
      return { role: roleOf(item['role']), parts: readContent(item, 'content', at) }
    case 'function_call':
    case 'custom_tool_call':
      return { role: 'assistant', parts: [readCall(item, at)] }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'tool', parts: [readResult(item, at)] }
    case 'reasoning':
      return { role: 'assistant', parts: [readReasoning(item, at.reading)] }
    // An action of the provider itself stands beside the model's text.
    default:
      return { role: 'assistant', parts: [{ type: 'opaque', format: 'responses', value: item }] }
  }
}

function roleOf(role: unknown): Turn['role'] {
  if (role === 'assistant') return 'assistant'
  return role === 'system' || role === 'developer' ? 'system' : 'user'
}

function readContent(item: Wire, name: 'content' | 'output', { reading, place }: Place): Part[] {
  const content = item[name]
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const path = `${place}.${name}`
  if (!Array.isArray(content)) throw fieldError(path, 'must be a string or an array of parts.')
  return objectsOf(content, path, 'a part with a type').map((part) => readPart(part, reading))
}

function readPart(wire: Wire, reading: ConversationReading): Part {
  const part = readKnownPart(wire, reading)
  if (part.type === 'opaque') return part
  return { ...part, ...extrasOf('responses', reading.rest(wire, partMembers, 'input[].content[]')) }
}

function readKnownPart(wire: Wire, reading: ConversationReading): Part {
  const { type, text, refusal, image_url: image, file_id: fileId } = wire
  if (typeof text === 'string') return { type: 'text', text } satisfies TextPart
  if (typeof refusal === 'string') return { type: 'refusal', text: refusal }
  if (type === 'input_image') {
    const detail = typeof wire['detail'] === 'string' ? wire['detail'] : null
    const source =
      typeof image === 'string'
        ? readMediaUrl(image, 'image/png')
        : ({ kind: 'provider_file', fileId: textOrEmpty(fileId) } as const)
    return { type: 'image', source, detail }
  }
  if (type === 'input_file') return readFile(wire, reading)
  return { type: 'opaque', format: 'responses', value: wire }
}

function readFile(wire: Wire, reading: ConversationReading): Part {
  const { file_data: data, file_url: url, file_id: fileId, filename } = wire
  const address = typeof data === 'string' ? data : url
  return {
    type: 'file',
    source:
      typeof address === 'string'
        ? reading.media(address, 'application/pdf')
        : { kind: 'provider_file', fileId: textOrEmpty(fileId) },
    name: typeof filename === 'string' ? filename : null,
    context: null,
    citations: false,
  }
}

function readCall(item: Wire, at: Place): ToolCallPart {
  const isCustom = item['type'] === 'custom_tool_call'
  const { namespace } = item
  const name = textOrEmpty(item['name'])
  return {
    type: 'tool_call',
    id: textOrEmpty(item['call_id']),
    name: typeof namespace === 'string' ? flatToolName({ namespace, name }) : name,
    arguments: isCustom ? inputOf(item['input'], at) : argumentsOf(item['arguments'], at.reading),
    kind: isCustom ? 'custom' : 'function',
  }
}

/** The input of a custom tool can be any text, but only text. */
function inputOf(given: unknown, { reading, place }: Place): string {
  if (typeof given === 'string') return reading.whole(given)
  if (given === null || given === undefined) return ''
  throw fieldError(`${place}.input`, 'must be a string.')
}

function readResult(item: Wire, at: Place): ToolResultPart {
  const content = resultOf(readContent(item, 'output', at), `${at.place}.output`)
  return { type: 'tool_result', callId: textOrEmpty(item['call_id']), content, isError: false }
}

/** A thought of the provider itself, or one that this gateway sealed for another provider. */
function readReasoning(item: Wire, reading: ConversationReading): ReasoningPart {
  const summary = readTexts(item['summary'])
  const text = readTexts(item['content']).join('')
  const sealed = textOrEmpty(item['encrypted_content'])
  const shown = { text: text === '' ? null : text, summary: summary.length === 0 ? null : summary }
  const bound = reading.bound(sealed)
  if (bound !== null) return { type: 'reasoning', ...bound, ...shown, text: bound.text ?? shown.text }
  return {
    type: 'reasoning',
    id: textOrEmpty(item['id']) || null,
    ...shown,
    signature: null,
    sealed: sealed === '' ? null : sealed,
    origin: sealed === '' ? null : 'responses',
  }
}

function readTexts(wire: unknown): string[] {
  if (!Array.isArray(wire)) return []
  return wire.filter(isRecord).map((part) => textOrEmpty(part['text']))
}
