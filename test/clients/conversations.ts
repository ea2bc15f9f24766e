import type { Mount } from './world.ts'

/** What a request to a provider has of the conversation so far, whatever its format. */
export interface ReadConversation {
  calls: { id: string; name: string }[]
  /** Results of tools in order; of an image no text. */
  results: { id: string; text: string }[]
  images: number
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
    marks: JSON.stringify(body).split('"cache_control":').length - 1,
  }
  for (const message of listOf(body['messages'])) {
    if (mount === 'messages') readBlocks(message, read)
    else readChatMessage(message, read)
  }
  return read
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
