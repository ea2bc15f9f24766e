import type {
  Conversation,
  FilePart,
  ImagePart,
  MediaSource,
  Part,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { fieldError } from '../../../core/errors.ts'
import { steppedMessagesMax } from '../../../core/limits/text.ts'
import type { Losses } from '../member-names.ts'
import { toolInputOf } from '../tools/tool-input.ts'
import type { GeminiModel } from './quirks.ts'
import { Signatures } from './read-signatures.ts'
import { typeNameOf } from '../../../json/values.ts'
import { cannotCarry } from '../member-names.ts'

/** A JSON object of the request. */
type Wire = Record<string, unknown>

interface Content {
  role: 'user' | 'model'
  parts: Wire[]
}

/** The turns in the format's form: instructions apart, and alternating roles. */
export interface WrittenTurns {
  system: Wire[]
  contents: Content[]
}

/** The calls so far, by id; of several with one id, the last. */
type Calls = Map<string, { name: string; place: number }>

interface Writing {
  model: GeminiModel
  losses: Losses
}

/**
 * Writes turns in the format's form: instructions in `system`, neighbours of one role joined, and results of tools in
 * the order of their calls, because a model without call ids matches them by order. Throws `invalid_request` for a part
 * that the format cannot express.
 */
export function* writeTurns(
  conversation: Conversation,
  { model, losses }: Writing,
): Generator<void, WrittenTurns> {
  const system: Wire[] = []
  const contents: Content[] = []
  const calls: Calls = new Map()
  let callsSoFar = 0
  for (const [index, turn] of conversation.turns.entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    if (turn.name !== null) losses.drop('speaker')
    const parts = partsOf(turn, { model, losses, turn, calls })
    for (const part of turn.parts)
      if (part.type === 'tool_call') calls.set(part.id, { name: part.name, place: callsSoFar++ })
    if (turn.role === 'system' && contents.length === 0 && model.hasSystem) {
      for (const part of parts) system.push(part)
      continue
    }
    if (parts.length === 0) continue
    if (turn.role === 'system') losses.approximate('turnRole')
    const role = turn.role === 'assistant' ? 'model' : 'user'
    const last = contents.at(-1)
    if (last?.role !== role) contents.push({ role, parts })
    else for (const part of parts) last.parts.push(part)
  }
  yield
  for (const content of contents) if (content.role === 'user') orderResults(content, calls)
  // The provider refuses a request without contents.
  if (contents.length === 0 && system.length > 0) {
    losses.approximate('turnRole')
    contents.push({ role: 'user', parts: system.splice(0) })
  }
  return { system, contents }
}

function isResult(part: Wire): boolean {
  return part['functionResponse'] !== undefined
}

/** Moves results of tools to the front, in the order of their calls. */
function orderResults(content: Content, calls: Calls): void {
  if (!content.parts.some(isResult)) return
  const placeOf = ({ functionResponse: result }: Wire) =>
    calls.get(String((result as Wire)['id']))?.place ?? -1
  content.parts = [
    ...content.parts.filter(isResult).toSorted((left, right) => placeOf(left) - placeOf(right)),
    ...content.parts.filter((part) => !isResult(part)),
  ]
}

interface PartWriting extends Writing {
  turn: Turn
  /** The calls before this turn. */
  calls: Calls
}

function partsOf(turn: Turn, writing: PartWriting): Wire[] {
  if (turn.role === 'tool') return writeResults(turn, writing)
  const signatures = new Signatures(turn, writing.model)
  const parts = turn.parts.flatMap((part) => {
    if (part.cache !== undefined) writing.losses.drop(turn.place === 'system' ? 'systemCache' : 'partCache')
    return signatures.put(part, partOf(part, writing))
  })
  return [...parts, ...signatures.rest()]
}

/** Null for a part that must not be sent: an empty text, or a thought of another provider. */
function partOf(part: Part, writing: PartWriting): Wire | Wire[] | null {
  const { losses, turn } = writing
  if (turn.role === 'system' && part.type !== 'text') throw cannotCarry(writing.turn, `"${part.type}" parts`)
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? null : { text: part.text }
    case 'image':
      return writeImage(part, writing)
    case 'file':
      return writeFile(part, writing)
    case 'audio':
      return { inlineData: { mimeType: `audio/${part.format}`, data: part.base64 } }
    case 'tool_call':
      return { functionCall: { id: part.id, name: part.name, args: toolInputOf(part) } }
    case 'reasoning': {
      const text = part.text ?? part.summary?.join('\n\n') ?? ''
      if (part.origin === 'gemini') return text === '' ? null : { text, thought: true }
      losses.drop('thought')
      return null
    }
    case 'tool_result':
    case 'opaque':
      throw cannotCarry(writing.turn, `"${nameOfPart(part)}" parts`)
  }
}

function nameOfPart(part: Part): string {
  return part.type === 'opaque' ? typeNameOf(part.value) : part.type
}

function writeImage({ source, detail }: ImagePart, writing: PartWriting): Wire {
  if (detail !== null && detail !== 'auto') writing.losses.drop('detail')
  return writeSource(source, writing)
}

/** The format has no name and no description for a document, so both go before it as text. */
function writeFile({ source, name, context, citations }: FilePart, writing: PartWriting): Wire[] {
  if (citations) throw cannotCarry(writing.turn, 'documents to be cited')
  const title = name === null ? [] : [name]
  const lead = [...title, ...(context === null ? [] : [context])].map((text) => ({ text }))
  return [...lead, source.kind === 'text' ? { text: source.text } : writeSource(source, writing)]
}

function writeSource(source: MediaSource, writing: PartWriting): Wire {
  if (source.kind === 'data') return { inlineData: { mimeType: source.mediaType, data: source.base64 } }
  if (source.kind === 'url') return { fileData: { fileUri: source.url } }
  // A file id is valid only at the provider that keeps the file.
  throw cannotCarry(writing.turn, "a provider's file id")
}

function writeResults(turn: Turn, writing: PartWriting): Wire[] {
  return turn.parts.flatMap((part) => {
    if (part.type !== 'tool_result') throw cannotCarry(writing.turn, `"${part.type}" parts among results`)
    return writeResult(part, writing)
  })
}

/** A tool's result. Images stand inside it; for a model that refuses them there, they follow it as the user's parts. */
function writeResult(part: ToolResultPart, writing: PartWriting): Wire[] {
  const { callId, content, isError, cache } = part
  const call = writing.calls.get(callId)
  if (call === undefined) throw fieldError(writing.turn.place, unknownCall(callId))
  if (cache !== undefined) writing.losses.drop('partCache')
  const { hasResultMedia } = writing.model
  const { texts, media } = contentOf(content, writing)
  if (media.length > 0 && !hasResultMedia) writing.losses.approximate('resultMedia')
  const response: Wire = {
    id: callId,
    name: call.name,
    // As one text, because the provider gives names such as "$ref" inside an object a meaning.
    response: { [isError ? 'error' : 'output']: texts.join('\n') },
    ...(media.length > 0 && hasResultMedia ? { parts: media } : {}),
  }
  if (media.length === 0 || hasResultMedia) return [{ functionResponse: response }]
  return [{ functionResponse: response }, { text: `From the tool call ${callId}:` }, ...media]
}

/** The text and the media of a result. Only media may stand inside a result, so a document's name becomes text. */
function contentOf(content: ToolResultPart['content'], writing: PartWriting) {
  const { hasResultMedia } = writing.model
  const texts: string[] = []
  const media: Wire[] = []
  for (const each of content) {
    const words = each.type === 'opaque' ? each.words : null
    if (words) writing.losses.approximate('resultMedia')
    const parts = words ? [{ text: words }] : [partOf(each, writing) ?? []].flat()
    const isWord = each.type === 'text' || Boolean(words) || hasResultMedia
    for (const part of parts)
      if (typeof part['text'] === 'string' && isWord) texts.push(part['text'])
      else media.push(part)
  }
  return { texts, media }
}

function unknownCall(callId: string): string {
  return `has the result of a tool call "${callId.slice(0, shownIdLengthMax)}", which the conversation does not have. Send the assistant's message that called it, too.`
}

/** The caller chooses the id, so it is cut when shown. */
const shownIdLengthMax = 64
