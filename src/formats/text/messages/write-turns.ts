import type {
  Conversation,
  FilePart,
  ImagePart,
  MediaSource,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { writeCacheMark } from '../cache-mark.ts'
import { steppedMessagesMax } from '../../../core/limits/text.ts'
import { toolIdOf, toolInputOf } from '../tools/tool-input.ts'
import type { Losses } from '../member-names.ts'
import type { MessagesModel, MessagesQuirks } from './quirks.ts'
import { typeNameOf } from '../../../json/values.ts'
import { cannotCarry } from '../member-names.ts'

/** A JSON object of the request. */
type Wire = Record<string, unknown>

/** The conversation's turns in the format's form: system texts apart, and alternating roles. */
export interface WrittenConversation {
  system: Wire[]
  messages: Wire[]
}

interface Writing {
  quirks: MessagesQuirks
  model: MessagesModel
  losses: Losses
}

/**
 * Writes turns in the format's form: instructions in `system`, neighbours of one role joined, and results of tools
 * first in the user's next message. Throws `invalid_request` for a part that the format cannot express.
 */
export function* writeTurns(
  conversation: Conversation,
  writing: Writing,
): Generator<void, WrittenConversation> {
  const system: Wire[] = []
  const messages: { role: string; content: Wire[] }[] = []
  for (const [index, turn] of conversation.turns.entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    const place = { ...writing, turn, format: conversation.format }
    if (turn.name !== null) writing.losses.drop('speaker')
    const blocks = turn.parts.flatMap((part) => blocksOf(part, place))
    if (turn.role === 'system' && messages.length === 0) {
      system.push(...blocks)
      continue
    }
    if (blocks.length === 0) continue
    const role = roleOf(turn, writing.model)
    if (turn.role === 'system' && role === 'user') writing.losses.approximate('turnRole')
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else messages.push({ role, content: blocks })
  }
  for (const message of messages) if (message.role === 'user') putResultsFirst(message)
  // The provider refuses a request without messages.
  if (messages.length === 0 && system.length > 0) {
    writing.losses.approximate('turnRole')
    messages.push({ role: 'user', content: system.splice(0) })
  }
  return { system, messages }
}

function roleOf({ role }: Turn, { hasSystemTurns }: MessagesModel): string {
  if (role === 'assistant') return 'assistant'
  return role === 'system' && hasSystemTurns ? 'system' : 'user'
}

// The provider requires results before any other block in the message that answers calls.
function putResultsFirst(message: { content: Wire[] }): void {
  const isResult = (block: Wire) => block['type'] === 'tool_result'
  if (!message.content.some(isResult)) return
  message.content = [
    ...message.content.filter(isResult),
    ...message.content.filter((block) => !isResult(block)),
  ]
}

interface PartWriting extends Writing {
  turn: Turn
  /** The caller's format. */
  format: Conversation['format']
}

function blocksOf(part: Part, writing: PartWriting): Wire[] {
  const block = blockOf(part, writing)
  if (block === null) return []
  const { cache, extras } = part
  if (extras?.messages !== undefined) Object.assign(block, extras.messages)
  if (cache !== undefined && writing.quirks.hasCacheMarks) block['cache_control'] = writeCacheMark(cache)
  else if (cache !== undefined) writing.losses.drop('partCache')
  return [block]
}

/** Null for a part that must not be sent: an empty text, or a thought of another provider. */
function blockOf(part: Part, writing: PartWriting): Wire | null {
  switch (part.type) {
    case 'text':
      return writeText(part)
    case 'refusal':
      return part.text === '' ? null : { type: 'text', text: part.text }
    case 'image':
      return writeImage(part, writing)
    case 'file':
      return writeFile(part, writing)
    case 'audio':
      throw cannotCarry(writing.turn, 'audio')
    case 'tool_call':
      return writeToolCall(part)
    case 'tool_result':
      return writeToolResult(part, writing)
    case 'reasoning':
      return writeThought(part, writing)
    case 'opaque':
      if (part.format !== 'messages') throw cannotCarry(writing.turn, `"${typeNameOf(part.value)}" parts`)
      return { ...part.value }
  }
}

function writeText(part: TextPart): Wire | null {
  if (part.text === '') return null
  return { type: 'text', text: part.text, ...part.extras?.messages }
}

/**
 * Only a thought that this provider sealed goes back to it; a provider without seals gets thoughts that no provider
 * sealed.
 */
function writeThought(part: ReasoningPart, { losses, quirks }: PartWriting): Wire | null {
  const { origin, text, signature, sealed } = part
  if (!quirks.signsThoughts && origin === null && text !== null && text !== '')
    return { type: 'thinking', thinking: text, signature: '' }
  if (origin === 'messages' && sealed !== null) return { type: 'redacted_thinking', data: sealed }
  if (origin === 'messages' && signature !== null)
    return { type: 'thinking', thinking: text ?? '', signature }
  losses.drop('thought')
  return null
}

function writeImage({ source, detail }: ImagePart, writing: PartWriting): Wire {
  if (!writing.quirks.hasImages || writing.turn.role === 'assistant')
    throw cannotCarry(writing.turn, 'images')
  if (detail !== null && detail !== 'auto') writing.losses.drop('detail')
  return { type: 'image', source: writeSource(source, writing) }
}

function writeFile(part: FilePart, writing: PartWriting): Wire {
  if (!writing.quirks.hasDocuments) throw cannotCarry(writing.turn, 'files')
  const { source, name, context, citations } = part
  const isText = source.kind === 'data' && source.mediaType.startsWith('text/')
  if (source.kind === 'data' && !isText && source.mediaType !== 'application/pdf')
    throw cannotCarry(writing.turn, `files of the type ${source.mediaType}`)
  return {
    type: 'document',
    source: source.kind === 'text' || isText ? writePlainText(source) : writeSource(source, writing),
    ...(name === null ? {} : { title: name }),
    ...(context === null ? {} : { context }),
    ...(citations ? { citations: { enabled: true } } : {}),
  }
}

function writePlainText(source: FilePart['source']): Wire {
  const data = source.kind === 'data' ? Buffer.from(source.base64, 'base64').toString('utf8') : textOf(source)
  return { type: 'text', media_type: 'text/plain', data }
}

function textOf(source: FilePart['source']): string {
  return source.kind === 'text' ? source.text : ''
}

function writeSource(source: MediaSource, writing: PartWriting): Wire {
  if (source.kind === 'data') return { type: 'base64', media_type: source.mediaType, data: source.base64 }
  if (source.kind === 'url') return { type: 'url', url: source.url }
  // A file id is valid only at the provider that keeps the file.
  if (writing.format !== 'messages') throw cannotCarry(writing.turn, "a provider's file id")
  return { type: 'file', file_id: source.fileId }
}

function writeToolCall(part: ToolCallPart): Wire {
  return {
    type: 'tool_use',
    id: toolIdOf(part.id),
    name: part.name,
    input: toolInputOf(part),
  }
}

function writeToolResult(part: ToolResultPart, writing: PartWriting): Wire {
  const [first, ...others] = part.content
  const isPlain = first?.type === 'text' && others.length === 0 && first.cache === undefined
  const content = isPlain ? first.text : part.content.flatMap((each) => blocksOf(each, writing))
  return {
    type: 'tool_result',
    tool_use_id: toolIdOf(part.callId),
    ...(content.length === 0 ? {} : { content }),
    ...(part.isError ? { is_error: true } : {}),
  }
}
