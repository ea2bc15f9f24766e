import type {
  Conversation,
  FilePart,
  ImagePart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { asText } from '../conversation-reading.ts'
import { steppedMessagesMax } from '../../../core/limits/text.ts'
import type { Losses } from '../member-names.ts'
import { writeMediaUrl } from '../media/media-source.ts'
import { toolIdOf } from '../tools/tool-input.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { typeNameOf } from '../../../json/values.ts'
import { cannotCarry } from '../member-names.ts'

/** A JSON object of the request. */
type Wire = Record<string, unknown>

/** The conversation's turns in the format's form. */
export interface WrittenInput {
  /** The texts of the system turns at the beginning; null for none. */
  instructions: string | null
  input: Wire[]
}

interface Writing {
  quirks: ResponsesQuirks
  losses: Losses
}

/** Writes turns as instructions and items. Throws `invalid_request` for a part that the format cannot express. */
export function* writeInput(conversation: Conversation, writing: Writing): Generator<void, WrittenInput> {
  const { turns, format } = conversation
  const first = turns.findIndex((turn) => !isInstruction(turn))
  // The provider refuses a request without input, so if there are only instructions they become items.
  const lead = turns.slice(0, Math.max(first, 0))
  const place = { ...writing, format, custom: customCalls(turns) }
  for (const { parts, place: at } of lead)
    noteCaches(parts, writing, at === 'system' ? 'systemCache' : 'partCache')
  const instructions = lead.flatMap(({ parts }) =>
    parts.map((part) => (part.type === 'text' ? part.text : '')),
  )
  const input: Wire[] = []
  for (const [index, turn] of turns.slice(lead.length).entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    for (const item of writeTurn(turn, { ...place, turn })) input.push(item)
  }
  return { instructions: instructions.length === 0 ? null : instructions.join('\n\n'), input }
}

function isInstruction({ role, parts, extras }: Turn): boolean {
  return role === 'system' && extras?.responses === undefined && parts.every(({ type }) => type === 'text')
}

/** The ids of calls of custom tools; their results are items of another type. */
function customCalls(turns: readonly Turn[]): ReadonlySet<string> {
  const calls = turns.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_call'))
  return new Set(calls.filter(({ kind }) => kind === 'custom').map(({ id }) => id))
}

interface TurnWriting extends Writing {
  turn: Turn
  /** The caller's format. */
  format: Conversation['format']
  custom: ReadonlySet<string>
}

function writeTurn(turn: Turn, writing: TurnWriting): Wire[] {
  const { role, parts, name } = turn
  if (name !== null) writing.losses.drop('speaker')
  noteCaches(parts, writing)
  if (role === 'assistant') return writeAssistant(parts, writing)
  if (role === 'tool') return parts.map((part) => writeResult(part, writing))
  const content = parts.map((part) => writePart(part, writing))
  return content.length === 0 ? [] : [{ type: 'message', role, content }]
}

/** The format has no cache marks. */
function noteCaches(
  parts: readonly Part[],
  { losses }: Writing,
  carried: 'partCache' | 'systemCache' = 'partCache',
): void {
  if (parts.some(({ cache }) => cache !== undefined)) losses.drop(carried)
}

/** A part of the user's or of a tool's message. */
function writePart(part: Part, writing: TurnWriting): Wire {
  const { responses: extras } = part.extras ?? {}
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text, ...extras }
    case 'image':
      return { ...writeImage(part, writing), ...extras }
    case 'file':
      return { ...writeFile(part, writing), ...extras }
    case 'opaque':
      if (part.format === 'responses') return { ...part.value }
      throw cannotCarry(writing.turn, `"${typeNameOf(part.value)}" parts`)
    case 'audio':
      throw cannotCarry(writing.turn, 'audio')
    default:
      throw cannotCarry(writing.turn, `"${part.type}" parts`)
  }
}

function writeImage({ source, detail }: ImagePart, writing: TurnWriting): Wire {
  const told = detail === null ? {} : { detail }
  const url = writeMediaUrl(source)
  if (url !== null) return { type: 'input_image', image_url: url, ...told }
  return { type: 'input_image', file_id: fileIdOf(source, writing), ...told }
}

function writeFile(part: FilePart, writing: TurnWriting): Wire {
  const { source, name, context, citations } = part
  if (citations) throw cannotCarry(writing.turn, 'documents to be cited')
  const words = wordsOf(source, writing)
  if (words !== null) return { type: 'input_text', text: asText(words, name, context) }
  if (context !== null) throw cannotCarry(writing.turn, 'a document with a context')
  if (source.kind === 'url') return { type: 'input_file', file_url: source.url }
  if (source.kind !== 'data') return { type: 'input_file', file_id: fileIdOf(source, writing) }
  // OpenAI refuses bytes without a name.
  return { type: 'input_file', filename: name ?? 'document.pdf', file_data: writeMediaUrl(source) }
}

/** The text of a text file. Callers of the same format let the provider read the file. */
function wordsOf(source: FilePart['source'], { format }: TurnWriting): string | null {
  if (source.kind === 'text') return source.text
  if (source.kind !== 'data' || format === 'responses' || !source.mediaType.startsWith('text/')) return null
  return Buffer.from(source.base64, 'base64').toString('utf8')
}

/** A file id is valid only at the provider that keeps the file. */
function fileIdOf(source: FilePart['source'], writing: TurnWriting): string {
  if (source.kind === 'provider_file' && writing.format === 'responses') return source.fileId
  throw cannotCarry(writing.turn, "a provider's file id")
}

/** Neighbouring texts form one message; every other part is its own item. */
function writeAssistant(parts: readonly Part[], writing: TurnWriting): Wire[] {
  const items: Wire[] = []
  let message: Wire[] | null = null
  for (const part of parts) {
    const said = writeSaid(part)
    if (said === null) {
      message = null
      items.push(...writeItem(part, writing))
    } else if (message === null) {
      message = [said]
      items.push({ type: 'message', role: 'assistant', content: message })
    } else message.push(said)
  }
  return withoutLooseThoughts(items, writing)
}

function writeSaid(part: Part): Wire | null {
  if (part.type === 'text') return { type: 'output_text', text: part.text, annotations: [] }
  return part.type === 'refusal' ? { type: 'refusal', refusal: part.text } : null
}

function writeItem(part: Part, writing: TurnWriting): Wire[] {
  switch (part.type) {
    case 'tool_call':
      return [writeCall(part)]
    case 'reasoning':
      return writeThought(part, writing)
    case 'opaque':
      if (part.format === 'responses') return [{ ...part.value }]
      throw cannotCarry(writing.turn, `"${typeNameOf(part.value)}" parts`)
    case 'image':
      throw cannotCarry(writing.turn, 'images')
    default:
      throw cannotCarry(writing.turn, `"${part.type}" parts`)
  }
}

function writeCall({ id, name, arguments: text, kind }: ToolCallPart): Wire {
  const called = { call_id: toolIdOf(id), name }
  if (kind === 'custom') return { type: 'custom_tool_call', ...called, input: text }
  return { type: 'function_call', ...called, arguments: text === '' ? '{}' : text }
}

/** Only a thought sealed in this format goes back, and a plain thought when the provider takes it. */
function writeThought(part: ReasoningPart, { quirks, losses }: TurnWriting): Wire[] {
  const { id, text, summary, sealed, origin } = part
  const named = id === null ? {} : { id }
  const told = (summary ?? []).map((paragraph) => ({ type: 'summary_text', text: paragraph }))
  if (origin === 'responses' && sealed !== null)
    return [{ type: 'reasoning', ...named, summary: told, encrypted_content: sealed }]
  if (quirks.takesOpenThoughts && text !== null && (origin === null || origin === 'responses')) {
    return [{ type: 'reasoning', ...named, summary: told, content: [{ type: 'reasoning_text', text }] }]
  }
  losses.drop('thought')
  return []
}

/** The provider refuses a thought at the end of a turn, which happens when an answer was cut off. */
function withoutLooseThoughts(items: readonly Wire[], { losses }: TurnWriting): Wire[] {
  const last = items.findLastIndex(({ type }) => type !== 'reasoning')
  if (last < items.length - 1) losses.drop('thought')
  return items.slice(0, last + 1)
}

function writeResult(part: Part, writing: TurnWriting): Wire {
  if (part.type !== 'tool_result') throw cannotCarry(writing.turn, `"${part.type}" parts among results`)
  const isCustom = writing.custom.has(part.callId)
  return {
    type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: toolIdOf(part.callId),
    output: writeOutput(part, writing),
  }
}

function writeOutput({ content, isError }: ToolResultPart, writing: TurnWriting): unknown {
  if (isError) writing.losses.approximate('resultError')
  noteCaches(content, writing)
  const lead = isError ? 'The tool failed:\n' : ''
  const [first, ...others] = content
  if (first === undefined) return lead
  if (first.type === 'text' && others.length === 0) return `${lead}${first.text}`
  const parts = content.map((each) => writeResultPart(each, writing))
  return isError ? [{ type: 'input_text', text: lead }, ...parts] : parts
}

function writeResultPart(part: ToolResultPart['content'][number], writing: TurnWriting): Wire {
  if (part.type !== 'opaque' || part.format === 'responses' || part.words === undefined)
    return writePart(part, writing)
  writing.losses.approximate('resultMedia')
  return { type: 'input_text', text: part.words }
}
