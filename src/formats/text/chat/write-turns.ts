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
import type { Losses } from '../member-names.ts'
import { writeMediaUrl } from '../media/media-source.ts'
import { detailBase } from './reasoning.ts'
import { typeNameOf } from '../../../json/values.ts'
import { asText } from '../conversation-reading.ts'
import { cannotCarry } from '../member-names.ts'

type Wire = Record<string, unknown>

interface Place {
  turn: Turn
  conversation: Conversation
  losses: Losses
}

/** Writes the turns as chat messages. Throws `invalid_request` for a part that the format has no place for. */
export function* writeMessages(conversation: Conversation, losses: Losses): Generator<void, Wire[]> {
  const messages: Wire[] = []
  for (const [index, turn] of conversation.turns.entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    for (const message of writeTurn(turn, { turn, conversation, losses })) messages.push(message)
  }
  return messages
}

function writeTurn(turn: Turn, place: Place): Wire[] {
  const more = { ...(turn.name === null ? {} : { name: turn.name }), ...turn.extras?.chat }
  switch (turn.role) {
    case 'system':
      return [{ role: 'system', content: contentOf(joinTexts(turn.parts), place), ...more }]
    case 'user':
      return [{ role: 'user', content: contentOf(turn.parts, place), ...more }]
    case 'assistant':
      return [{ ...writeAssistant(turn.parts, place), ...more }]
    case 'tool':
      return writeResults(turn.parts, place, more)
  }
}

/** Instructions in several pieces become one text, for hosts that take only a string; cache marks need the pieces. */
function joinTexts(parts: readonly Part[]): readonly Part[] {
  const texts = parts.flatMap((part) => (part.type === 'text' && isBare(part) ? [part.text] : []))
  if (parts.length < 2 || texts.length < parts.length) return parts
  return [{ type: 'text', text: texts.join('\n\n') }]
}

/** A single plain text is a string, which every host takes; marks or several parts need a list. */
function contentOf(parts: readonly Part[], place: Place): unknown {
  const [first, ...others] = parts
  if (first === undefined) return ''
  const isPlain = first.type === 'text' && others.length === 0 && isBare(first)
  return isPlain ? first.text : parts.map((part) => writePart(part, place))
}

/** Whether a text has neither a cache mark nor extras. */
function isBare({ cache, extras }: TextPart): boolean {
  return cache === undefined && extras?.chat === undefined
}

function writePart(part: Part, place: Place): Wire {
  const mark = part.cache === undefined ? {} : { cache_control: writeCacheMark(part.cache) }
  return { ...writeBare(part, place), ...mark, ...part.extras?.chat }
}

function writeBare(part: Part, place: Place): Wire {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'refusal', refusal: part.text }
    case 'image':
      return writeImage(part, place)
    case 'file':
      return writeFile(part, place)
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.base64, format: part.format } }
    case 'opaque':
      if (part.format === 'chat') return { ...part.value }
      throw cannotCarry(place.turn, `"${typeNameOf(part.value)}" parts`)
    default:
      throw cannotCarry(place.turn, `"${part.type}" parts`)
  }
}

function writeImage({ source, detail }: ImagePart, place: Place): Wire {
  const url = writeMediaUrl(source)
  if (url === null) throw cannotCarry(place.turn, "a provider's file id")
  return { type: 'image_url', image_url: { url, ...(detail === null ? {} : { detail }) } }
}

function writeFile({ source, name, context, citations }: FilePart, place: Place): Wire {
  if (citations) throw cannotCarry(place.turn, 'documents to be cited')
  // The format's own hosts take text files like other files.
  if (place.conversation.format === 'chat' && source.kind === 'data') return fileOf(source, name)
  if (source.kind === 'text') return { type: 'text', text: asText(source.text, name, context) }
  if (source.kind === 'data' && source.mediaType.startsWith('text/')) {
    const text = Buffer.from(source.base64, 'base64').toString('utf8')
    return { type: 'text', text: asText(text, name, context) }
  }
  if (source.kind === 'provider_file' && place.conversation.format !== 'chat')
    throw cannotCarry(place.turn, "a provider's file id")
  return fileOf(source, name)
}

function fileOf(source: MediaSource, name: string | null): Wire {
  const file =
    source.kind === 'provider_file' ? { file_id: source.fileId } : { file_data: writeMediaUrl(source) }
  // OpenAI refuses file bytes without a name.
  const filename = name ?? (source.kind === 'data' ? 'document.pdf' : null)
  return { type: 'file', file: { ...file, ...(filename === null ? {} : { filename }) } }
}

function writeAssistant(parts: readonly Part[], place: Place): Wire {
  const said = parts.filter((part) => part.type === 'text')
  const refusal = parts.filter((part) => part.type === 'refusal').map(({ text }) => text)
  const calls = parts.filter((part) => part.type === 'tool_call')
  const thoughts = parts.filter((part) => part.type === 'reasoning')
  const images = parts.filter((part) => part.type === 'image')
  const spoken = parts.find((part) => part.type === 'opaque')
  if (spoken !== undefined && spoken.format !== 'chat')
    throw cannotCarry(place.turn, `"${typeNameOf(spoken.value)}" parts`)
  return {
    role: 'assistant',
    content: said.length === 0 ? null : writeSaid(said, place),
    ...(refusal.length === 0 ? {} : { refusal: refusal.join('') }),
    ...writeThoughts(thoughts),
    ...(images.length === 0 ? {} : { images: images.map((image) => writeImage(image, place)) }),
    ...(spoken === undefined ? {} : { audio: spoken.value['audio'] }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(writeCall) }),
  }
}

/** Most hosts take an assistant's text only as one string. */
function writeSaid(said: readonly TextPart[], place: Place): unknown {
  if (!said.every(isBare)) return said.map((part) => writePart(part, place))
  return said.map(({ text }) => text).join('')
}

function writeThoughts(thoughts: readonly ReasoningPart[]): Wire {
  if (thoughts.length === 0) return {}
  const texts = thoughts.map(({ text, summary }) => text ?? summary?.join('\n\n') ?? '').filter(Boolean)
  const details = thoughts.flatMap((part, index) => writeDetailsOf(part, index))
  return {
    ...(texts.length === 0 ? {} : { reasoning: texts.join('\n\n') }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

function writeDetailsOf(
  { id, text, summary, signature, sealed, origin }: ReasoningPart,
  index: number,
): Wire[] {
  const base = detailBase(id, origin, index)
  const details: Wire[] = []
  if (summary !== null && summary.length > 0)
    details.push({ type: 'reasoning.summary', summary: summary.join('\n\n'), ...base })
  if (text !== null || signature !== null)
    details.push({ type: 'reasoning.text', text: text ?? '', signature, ...base })
  if (sealed !== null) details.push({ type: 'reasoning.encrypted', data: sealed, ...base })
  return details
}

function writeCall({ id, name, arguments: text, kind, extras }: ToolCallPart): Wire {
  if (kind === 'custom') return { id, type: 'custom', custom: { name, input: text }, ...extras?.chat }
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text }, ...extras?.chat }
}

/** A tool's message takes only text, so other content of a result follows as the user's, after the last result. */
function writeResults(parts: readonly Part[], place: Place, more: Wire): Wire[] {
  const messages: Wire[] = []
  const media: Wire[] = []
  for (const part of parts) {
    if (part.type !== 'tool_result') throw cannotCarry(place.turn, `"${part.type}" parts among results`)
    messages.push({ ...writeResult(part, place), ...more })
    media.push(...mediaOf(part, place))
  }
  if (media.length === 0) return messages
  place.losses.approximate('resultMedia')
  return [...messages, { role: 'user', content: media }]
}

function writeResult({ callId, content, isError, cache }: ToolResultPart, { losses }: Place): Wire {
  const texts = content.map(wordsOf).filter((text) => text !== null)
  if (content.some((part) => part.type === 'opaque' && wordsOf(part) !== null))
    losses.approximate('resultMedia')
  if (isError) losses.approximate('resultError')
  return {
    role: 'tool',
    tool_call_id: callId,
    content: `${isError ? 'The tool failed:\n' : ''}${texts.join('\n')}`,
    ...(cache === undefined ? {} : { cache_control: writeCacheMark(cache) }),
  }
}

/** The text of a part for a tool's message; null for a part that follows as the user's. */
function wordsOf(part: ToolResultPart['content'][number]): string | null {
  if (part.type === 'text') return part.text
  return part.type === 'opaque' && part.format !== 'chat' && part.words ? part.words : null
}

function mediaOf({ callId, content }: ToolResultPart, place: Place): Wire[] {
  const media = content.filter((part) => wordsOf(part) === null).map((part) => writePart(part, place))
  return media.length === 0 ? [] : [{ type: 'text', text: `From the tool call ${callId}:` }, ...media]
}
