import type {
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/text/conversation.ts'
import { isRecord } from '../chat/chat-media.ts'
import { readMediaUrl } from '../media-source.ts'
import { openReasoning } from '../reasoning-envelope.ts'
import { flatToolName } from './tool-namespaces.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * Instructions and input as turns: the items of one side, which the format lists one by one, become one turn up to the
 * next item of another side.
 */
export function readInput(instructions: unknown, input: unknown): Turn[] {
  const turns: Turn[] = []
  if (typeof instructions === 'string' && instructions !== '')
    turns.push({ role: 'system', parts: [{ type: 'text', text: instructions }], name: null })
  if (typeof input === 'string') {
    return [...turns, { role: 'user', parts: [{ type: 'text', text: input }], name: null }]
  }
  if (!Array.isArray(input)) return turns
  const isJoined = (role: Turn['role']) =>
    (role === 'assistant' || role === 'tool') && turns.at(-1)?.role === role
  let open: Part[] = []
  for (const item of input.filter(isRecord)) {
    const { role, parts } = readItem(item)
    if (!isJoined(role)) {
      open = []
      turns.push({ role, parts: open, name: null })
    }
    open.push(...parts)
  }
  return turns
}

function readItem(item: Wire): { role: Turn['role']; parts: Part[] } {
  const { type = 'message' } = item
  switch (type) {
    case 'message':
      return { role: roleOf(item['role']), parts: readContent(item['content']) }
    case 'function_call':
    case 'custom_tool_call':
      return { role: 'assistant', parts: [readCall(item)] }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'tool', parts: [readResult(item)] }
    case 'reasoning':
      return { role: 'assistant', parts: [readReasoning(item)] }
    // What the provider itself did stands beside the model's words.
    default:
      return { role: 'assistant', parts: [{ type: 'opaque', format: 'responses', value: item }] }
  }
}

function roleOf(role: unknown): Turn['role'] {
  if (role === 'assistant') return 'assistant'
  return role === 'system' || role === 'developer' ? 'system' : 'user'
}

function readContent(content: unknown): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isRecord).map(readPart) : []
}

function readPart(wire: Wire): Part {
  const { type, text, refusal, image_url: image, file_id: fileId } = wire
  if (typeof text === 'string') return { type: 'text', text } satisfies TextPart
  if (typeof refusal === 'string') return { type: 'refusal', text: refusal }
  if (type === 'input_image') {
    const detail = typeof wire['detail'] === 'string' ? wire['detail'] : null
    const source =
      typeof image === 'string'
        ? readMediaUrl(image, 'image/png')
        : ({ kind: 'provider_file', fileId: textOf(fileId) } as const)
    return { type: 'image', source, detail }
  }
  if (type === 'input_file') return readFile(wire)
  return { type: 'opaque', format: 'responses', value: wire }
}

function readFile({ file_data: data, file_url: url, file_id: fileId, filename }: Wire): Part {
  const address = typeof data === 'string' ? data : url
  return {
    type: 'file',
    source:
      typeof address === 'string'
        ? readMediaUrl(address, 'application/pdf')
        : { kind: 'provider_file', fileId: textOf(fileId) },
    name: typeof filename === 'string' ? filename : null,
    context: null,
    citations: false,
  }
}

function readCall(item: Wire): ToolCallPart {
  const isCustom = item['type'] === 'custom_tool_call'
  const { namespace } = item
  const name = textOf(item['name'])
  return {
    type: 'tool_call',
    id: textOf(item['call_id']),
    name: typeof namespace === 'string' ? flatToolName({ namespace, name }) : name,
    arguments: textOf(isCustom ? item['input'] : item['arguments']),
    kind: isCustom ? 'custom' : 'function',
  }
}

function readResult(item: Wire): ToolResultPart {
  const content = readContent(item['output']).filter(
    (part) => part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'opaque',
  )
  return { type: 'tool_result', callId: textOf(item['call_id']), content, isError: false }
}

/** A thought of the provider itself, or one that this gateway sealed for another. */
function readReasoning(item: Wire): ReasoningPart {
  const summary = readTexts(item['summary'])
  const text = readTexts(item['content']).join('')
  const sealed = textOf(item['encrypted_content'])
  const shown = { text: text === '' ? null : text, summary: summary.length === 0 ? null : summary }
  const bound = openReasoning(sealed)
  if (bound !== null) return { type: 'reasoning', ...bound, ...shown, text: bound.text ?? shown.text }
  return {
    type: 'reasoning',
    id: textOf(item['id']) || null,
    ...shown,
    signature: null,
    sealed: sealed === '' ? null : sealed,
    origin: sealed === '' ? null : 'responses',
  }
}

function readTexts(wire: unknown): string[] {
  if (!Array.isArray(wire)) return []
  return wire.filter(isRecord).map((part) => textOf(part['text']))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
