import type { Mount } from './world.ts'

/** What a request to a provider has of the conversation so far, whatever its format. */
export interface ReadConversation {
  calls: { id: string; name: string }[]
  /** Results of tools in order; of an image no text. */
  results: { id: string; text: string }[]
  images: number
  /** In words, signed or sealed; a provider of responses is given the sealed text as the signature. */
  thoughts: { text: string; signature: string | null }[]
  /** Marks up to which the provider is to keep the prompt. */
  marks: number
}

type Wire = Readonly<Record<string, unknown>>

/** Reads a request that a simulated provider has received. */
export function readConversation(mount: Mount, body: Wire): ReadConversation {
  const read: ReadConversation = {
    calls: [],
    results: [],
    images: 0,
    thoughts: [],
    marks: JSON.stringify(body).split(mount === 'converse' ? '"cachePoint":' : '"cache_control":').length - 1,
  }
  const { list, readOne } = readers[mount]
  for (const entry of listOf(body[list])) readOne(entry, read)
  return read
}

/** Where a format has the conversation, and how an entry of it is read. */
interface Reader {
  list: 'messages' | 'input' | 'contents'
  readOne: (entry: Wire, read: ReadConversation) => void
}

const chatReader: Reader = { list: 'messages', readOne: readChatMessage }
const messagesReader: Reader = { list: 'messages', readOne: readBlocks }
const geminiReader: Reader = { list: 'contents', readOne: readContent }
const readers: Readonly<Record<Mount, Reader>> = {
  messages: messagesReader,
  responses: { list: 'input', readOne: readItem },
  gemini: geminiReader,
  chat: chatReader,
  custom: chatReader,
  bedrock: messagesReader,
  converse: { list: 'messages', readOne: readConverseBlocks },
  vertex: geminiReader,
  'vertex-claude': messagesReader,
}

function readBlocks({ content }: Wire, read: ReadConversation): void {
  for (const block of listOf(content)) {
    const { type } = block
    if (type === 'tool_use') read.calls.push({ id: textOf(block['id']), name: textOf(block['name']) })
    if (type === 'tool_result') {
      read.results.push({ id: textOf(block['tool_use_id']), text: textIn(block['content']) })
      read.images += listOf(block['content']).filter((inner) => inner['type'] === 'image').length
    }
    if (type === 'thinking')
      read.thoughts.push({ text: textOf(block['thinking']), signature: textOf(block['signature']) || null })
  }
}

/** Converse has no types: a block is what its one member says. */
function readConverseBlocks({ content }: Wire, read: ReadConversation): void {
  for (const { toolUse, toolResult, reasoningContent } of listOf(content)) {
    if (isWire(toolUse)) read.calls.push({ id: textOf(toolUse['toolUseId']), name: textOf(toolUse['name']) })
    if (isWire(toolResult)) {
      const inner = listOf(toolResult['content'])
      read.results.push({ id: textOf(toolResult['toolUseId']), text: textIn(inner) })
      read.images += inner.filter((part) => part['image'] !== undefined).length
    }
    if (!isWire(reasoningContent) || !isWire(reasoningContent['reasoningText'])) continue
    const { text, signature } = reasoningContent['reasoningText']
    read.thoughts.push({ text: textOf(text), signature: textOf(signature) || null })
  }
}

function readChatMessage(message: Wire, read: ReadConversation): void {
  const { role, content, reasoning } = message
  if (typeof reasoning === 'string') read.thoughts.push({ text: reasoning, signature: null })
  for (const call of listOf(message['tool_calls'])) {
    const called = call['function'] as Wire
    read.calls.push({ id: textOf(call['id']), name: textOf(called['name']) })
  }
  if (role === 'tool') read.results.push({ id: textOf(message['tool_call_id']), text: textIn(content) })
  read.images += listOf(content).filter(({ type }) => type === 'image_url').length
}

function readItem(item: Wire, read: ReadConversation): void {
  const { type, content, output } = item
  if (type === 'function_call') read.calls.push({ id: textOf(item['call_id']), name: textOf(item['name']) })
  if (type === 'function_call_output')
    read.results.push({ id: textOf(item['call_id']), text: textIn(output) })
  if (type === 'reasoning') {
    const signature = textOf(item['encrypted_content']) || null
    read.thoughts.push({ text: textIn(item['summary']), signature })
  }
  read.images += [...listOf(content), ...listOf(output)].filter(
    (part) => part['type'] === 'input_image',
  ).length
}

/** Google's word for a signature that there is none of. */
const lostSignature = 'skip_thought_signature_validator'

/** A turn's thought and the signature beside it, which stands on what the thought led to, are one. */
function readContent({ parts }: Wire, read: ReadConversation): void {
  let text: string | null = null
  let signature: string | null = null
  for (const part of listOf(parts)) {
    const { functionCall: call, functionResponse: result, inlineData: media } = part
    if (part['thought'] === true) text = (text ?? '') + textOf(part['text'])
    const signed = textOf(part['thoughtSignature'])
    if (signed !== lostSignature) signature ??= signed || null
    if (isWire(call)) read.calls.push({ id: textOf(call['id']), name: textOf(call['name']) })
    if (isWire(result)) {
      read.results.push({ id: textOf(result['id']), text: textInObject(result['response']) })
      read.images += listOf(result['parts']).length
    }
    if (media !== undefined) read.images += 1
  }
  if (text !== null || signature !== null) read.thoughts.push({ text: text ?? '', signature })
}

function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textInObject(value: unknown): string {
  return isWire(value) ? Object.values(value).map(textOf).join('') : ''
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map(({ text }) => textOf(text))
    .join('')
}

function listOf(value: unknown): Wire[] {
  return Array.isArray(value) ? (value as Wire[]) : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
