import type {
  CacheMark,
  Conversation,
  FilePart,
  ImagePart,
  MediaSource,
  Part,
  ReasoningPart,
  ToolResultPart,
  Turn,
} from '../../../canonical/text/conversation.ts'
import { steppedMessagesMax } from '../../../core/limits/text.ts'
import { typeNameOf } from '../../../json/values.ts'
import { cannotCarry, type Carried, type Losses } from '../member-names.ts'
import { toolIdOf, toolInputOf } from '../tools/tool-input.ts'
import type { ConverseModel } from './quirks.ts'

/** A JSON object of the request. */
type Wire = Record<string, unknown>

/** The conversation's turns in the format's form: system texts apart, and alternating roles. */
export interface ConverseTurns {
  system: Wire[]
  messages: { role: string; content: Wire[] }[]
}

interface Writing {
  model: ConverseModel
  losses: Losses
}

interface PartWriting extends Writing {
  turn: Turn
  /** The caller's format. */
  format: Conversation['format']
  /** Names of documents, each of which may stand in a request once. */
  names: Set<string>
}

/** In the place of what the user has not said: the provider refuses an empty text, and a first message of the model. */
const nothing = '(nothing)'
/** Beside a document the provider wants a text in the same message. */
const besideDocument = 'See the document.'

/**
 * Writes turns in the format's form: instructions in `system`, neighbours of one role joined, and results of tools first in
 * the user's next message. Throws `invalid_request` for a part that the format cannot express.
 */
export function* writeTurns(conversation: Conversation, writing: Writing): Generator<void, ConverseTurns> {
  const system: Wire[] = []
  const messages: ConverseTurns['messages'] = []
  const names = new Set<string>()
  for (const [index, turn] of conversation.turns.entries()) {
    if (index % steppedMessagesMax === steppedMessagesMax - 1) yield
    if (turn.name !== null) writing.losses.drop('speaker')
    const place = { ...writing, turn, names, format: conversation.format }
    const isSystem = turn.role === 'system' && messages.length === 0 && writing.model.hasSystem
    const blocks = turn.parts.flatMap((part) => blocksOf(part, place, isSystem ? 'systemCache' : 'partCache'))
    if (isSystem) {
      system.push(...blocks)
      continue
    }
    if (blocks.length === 0) continue
    // A conversation begins with the user.
    if (messages.length === 0 && turn.role === 'assistant')
      messages.push({ role: 'user', content: [{ text: nothing }] })
    if (turn.role === 'system') writing.losses.approximate('turnRole')
    const role = turn.role === 'assistant' ? 'assistant' : 'user'
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else messages.push({ role, content: blocks })
  }
  // The provider refuses a request without messages.
  if (messages.length === 0 && system.length > 0) {
    writing.losses.approximate('turnRole')
    messages.push({ role: 'user', content: system.splice(0) })
  }
  // Nor one whose texts are all empty.
  if (messages.length === 0) messages.push({ role: 'user', content: [{ text: nothing }] })
  for (const message of messages) if (message.role === 'user') arrange(message)
  return { system, messages }
}

/** Results come before anything else of the message that answers calls, and a document has a text beside it. */
function arrange(message: { content: Wire[] }): void {
  const isResult = (block: Wire) => 'toolResult' in block
  const results = message.content.filter(isResult)
  if (results.length > 0)
    message.content = [...results, ...message.content.filter((block) => !isResult(block))]
  const hasDocument = message.content.some((block) => 'document' in block)
  if (hasDocument && !message.content.some((block) => 'text' in block))
    message.content.push({ text: besideDocument })
}

function blocksOf(part: Part, writing: PartWriting, mark: Carried): Wire[] {
  const block = blockOf(part, writing)
  if (block === null) return []
  // A result has no point inside; the one behind it covers it, too.
  const inner =
    part.type === 'tool_result' ? part.content.findLast(({ cache }) => cache !== undefined) : undefined
  const cache = part.cache ?? inner?.cache
  return cache === undefined ? [block] : [block, ...cachePointOf(cache, writing, mark)]
}

/** A point up to which the prompt is cached, as a block of its own; none where the model has no cache. */
export function cachePointOf({ ttl }: CacheMark, { model, losses }: Writing, mark: Carried): Wire[] {
  if (!model.hasCachePoints) {
    losses.drop(mark)
    return []
  }
  if (ttl === '1h' && !model.hasHourCache) losses.approximate(mark)
  return [{ cachePoint: { type: 'default', ...(ttl !== null && model.hasHourCache ? { ttl } : {}) } }]
}

/** Null for a part that must not be sent: a text without a character, or a thought of another provider. */
function blockOf(part: Part, writing: PartWriting): Wire | null {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? null : { text: part.text }
    case 'image':
      return writeImage(part, writing)
    case 'file':
      return writeFile(part, writing)
    case 'audio':
      throw cannotCarry(writing.turn, 'audio')
    case 'tool_call':
      return { toolUse: { toolUseId: toolIdOf(part.id), name: part.name, input: toolInputOf(part) } }
    case 'tool_result':
      return writeToolResult(part, writing)
    case 'reasoning':
      return writeThought(part, writing)
    case 'opaque':
      if (part.format !== 'converse') throw cannotCarry(writing.turn, `"${typeNameOf(part.value)}" parts`)
      return { ...part.value }
  }
}

/** Only a thought that this provider signed or sealed goes back to it. */
function writeThought(
  { origin, text, signature, sealed }: ReasoningPart,
  { losses }: PartWriting,
): Wire | null {
  if (origin === 'converse' && sealed !== null) return { reasoningContent: { redactedContent: sealed } }
  if (origin === 'converse' && signature !== null)
    return { reasoningContent: { reasoningText: { text: text ?? '', signature } } }
  losses.drop('thought')
  return null
}

const imageFormats: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

function writeImage({ source, detail }: ImagePart, writing: PartWriting): Wire {
  const { turn, model, losses } = writing
  if (!model.hasImages || turn.role === 'assistant') throw cannotCarry(turn, 'images')
  if (detail !== null && detail !== 'auto') losses.drop('detail')
  const type = source.kind === 'data' ? source.mediaType : typeOfName(source.kind === 'url' ? source.url : '')
  const format = imageFormats[type]
  if (format === undefined) throw cannotCarry(turn, `images of the type ${type}`)
  return { image: { format, source: writeSource(source, writing) } }
}

const documentFormats: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/markdown': 'md',
}

function writeFile(part: FilePart, writing: PartWriting): Wire {
  const { turn, model } = writing
  if (!model.hasDocuments) throw cannotCarry(turn, 'files')
  const { source, context, citations } = part
  return {
    document: {
      format: documentFormatOf(source, turn),
      name: documentNameOf(part, writing),
      source:
        source.kind === 'text'
          ? { bytes: Buffer.from(source.text).toString('base64') }
          : writeSource(source, writing),
      ...(context === null ? {} : { context }),
      ...(citations ? { citations: { enabled: true } } : {}),
    },
  }
}

function documentFormatOf(source: FilePart['source'], turn: Turn): string {
  if (source.kind === 'text') return 'txt'
  const type = source.kind === 'data' ? source.mediaType : typeOfName(source.kind === 'url' ? source.url : '')
  const format = documentFormats[type] ?? (type.startsWith('text/') ? 'txt' : undefined)
  if (format === undefined) throw cannotCarry(turn, `files of the type ${type}`)
  return format
}

/** The name tells the model of the document; the provider takes few characters in it, and none twice. */
function documentNameOf({ name }: FilePart, { names }: PartWriting): string {
  const plain = (name ?? '')
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replace(/[^A-Za-z0-9()[\]-]+/g, ' ')
    .trim()
    .slice(0, 150)
  const wanted = plain === '' ? 'Document' : plain
  let unique = wanted
  for (let count = 2; names.has(unique); count += 1) unique = `${wanted} ${count}`
  names.add(unique)
  return unique
}

const typesOfEndings: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  csv: 'text/csv',
  html: 'text/html',
  md: 'text/markdown',
  txt: 'text/plain',
}

/** The type that the ending of an object's name tells, where its bytes are not here. */
function typeOfName(address: string): string {
  const ending = /\.([a-z0-9]{1,5})$/i.exec(address)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(typesOfEndings, ending) ? (typesOfEndings[ending] ?? '') : 'application/octet-stream'
}

function writeSource(source: MediaSource, { turn }: PartWriting): Wire {
  if (source.kind === 'data') return { bytes: source.base64 }
  if (source.kind === 'url') return { s3Location: { uri: source.url } }
  throw cannotCarry(turn, "a provider's file id")
}

function writeToolResult(part: ToolResultPart, writing: PartWriting): Wire {
  const { model, losses } = writing
  const content = part.content.flatMap((each) => {
    const words = each.type === 'opaque' && each.format !== 'converse' ? each.words : undefined
    if (words) losses.approximate('resultMedia')
    const block = words ? { text: words } : blockOf(each, writing)
    return block === null ? [] : [block]
  })
  if (part.isError && !model.hasResultStatus) {
    losses.approximate('resultError')
    content.unshift({ text: 'The tool failed:' })
  }
  return {
    toolResult: {
      toolUseId: toolIdOf(part.callId),
      // The provider refuses a result without content.
      content: content.length === 0 ? [{ text: nothing }] : content,
      ...(part.isError && model.hasResultStatus ? { status: 'error' } : {}),
    },
  }
}
