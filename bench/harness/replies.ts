import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Frames with text in a streamed reply, as the budgets name it. */
const chunkCount = 50

/** Static answers of the upstream by name; each is a model of its own, `bench/<name>`. */
export const replyNames = [
  'json-1k',
  'json-4k',
  'json-100k',
  'json-1m',
  'sse-50',
  'embeddings-1536',
  'messages-1k',
  'messages-50',
  'gemini-1k',
  'gemini-50',
] as const
export type ReplyName = (typeof replyNames)[number]

/** The replies whose providers every version of the gateway knows, since its first. */
export const chatReplies: readonly ReplyName[] = ['json-1k', 'json-1m', 'sse-50']

/** Whether a reply is a stream of events. */
export function isStreamed(name: string): boolean {
  return name.endsWith('-50') || /^\d/.test(name)
}

/** The interface that answers with a reply: the provider's preset, and its version in the address. */
export function interfaceOf(name: string): { preset: string; version: string } {
  if (name.startsWith('messages-')) return { preset: 'anthropic', version: 'v1' }
  if (name.startsWith('gemini-')) return { preset: 'google-ai-studio', version: 'v1beta' }
  return { preset: 'custom', version: 'v1' }
}

const usage = { prompt_tokens: 211, completion_tokens: 50, total_tokens: 261 }

/** Writes the replies into a folder for nginx; returns it. */
export function writeReplies(folder: string): string {
  mkdirSync(folder, { recursive: true })
  const write = (name: ReplyName, text: string) => writeFileSync(join(folder, name), text)
  write('json-1k', answerOf(1000))
  write('json-4k', answerOf(4000))
  write('json-100k', answerOf(100_000))
  write('json-1m', answerOf(1_000_000))
  write('sse-50', streamOf())
  write('embeddings-1536', embeddingsOf(1536))
  write('messages-1k', messagesAnswer(proseOf(600)))
  write('messages-50', messagesStream())
  write('gemini-1k', JSON.stringify(geminiAnswer(proseOf(600), 'STOP')))
  write('gemini-50', geminiStream())
  return folder
}

/** A chat completion of exactly `bytes` bytes. */
export function answerOf(bytes: number): string {
  return answerWith(proseOf(bytes - answerWith('').length))
}

function answerWith(content: string): string {
  return JSON.stringify({
    id: 'chatcmpl-bench00000000000000000000',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: 'bench-model-2026-01-01',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
    service_tier: 'default',
    system_fingerprint: 'fp_bench',
  })
}

function streamOf(): string {
  const frames = [frameOf({ role: 'assistant', content: '', refusal: null }, null)]
  for (let index = 1; index < chunkCount; index += 1) frames.push(frameOf({ content: ` word${index}` }, null))
  frames.push(frameOf({}, 'stop'), frameOf(null, null, usage), 'data: [DONE]\n\n')
  return frames.join('')
}

/** One `chat.completion.chunk` as an event; `delta` null makes the frame that has only usage. */
export function frameOf(
  delta: object | null,
  finishReason: string | null,
  counts: object | null = null,
): string {
  const chunk = {
    id: 'chatcmpl-bench00000000000000000000',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'bench-model-2026-01-01',
    service_tier: 'default',
    system_fingerprint: 'fp_bench',
    choices: delta === null ? [] : [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: counts,
    obfuscation: 'a1b2c3d4e5',
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** An embedding of so many numbers, as OpenAI writes it when nobody asks for base64. */
function embeddingsOf(numbers: number): string {
  const embedding = Array.from({ length: numbers }, (_, index) => Math.sin(index) / 40)
  return JSON.stringify({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding }],
    model: 'bench-model-2026-01-01',
    usage: { prompt_tokens: 211, total_tokens: 211 },
  })
}

const messagesUsage = { input_tokens: 211, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

function messagesAnswer(text: string): string {
  return JSON.stringify({
    id: 'msg_bench0000000000000000000',
    type: 'message',
    role: 'assistant',
    model: 'bench-model-2026-01-01',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { ...messagesUsage, output_tokens: 50 },
  })
}

function messagesStream(): string {
  const message = {
    ...(JSON.parse(messagesAnswer('')) as object),
    content: [],
    stop_reason: null,
    usage: { ...messagesUsage, output_tokens: 1 },
  }
  const deltas = Array.from({ length: chunkCount - 1 }, (_, index) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: ` word${index + 1}` },
  }))
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    ...deltas,
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 50 },
    },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function geminiAnswer(text: string, finishReason: string | null): object {
  return {
    candidates: [
      { content: { parts: [{ text }], role: 'model' }, ...(finishReason ? { finishReason } : {}), index: 0 },
    ],
    usageMetadata: {
      promptTokenCount: 211,
      ...(finishReason ? { candidatesTokenCount: 50, totalTokenCount: 261 } : { totalTokenCount: 211 }),
    },
    modelVersion: 'bench-model-2026-01-01',
    responseId: 'bench00000000000000000',
  }
}

function geminiStream(): string {
  const answers = Array.from({ length: chunkCount - 1 }, (_, index) =>
    geminiAnswer(` word${index + 1}`, null),
  )
  return [...answers, geminiAnswer('', 'STOP')]
    .map((answer) => `data: ${JSON.stringify(answer)}\r\n\r\n`)
    .join('')
}

/** A chat request of about `bytes` bytes. */
export function requestOf(model: string, bytes: number, stream = false): string {
  const withText = (content: string) =>
    JSON.stringify({
      model,
      messages: [
        { role: 'system', content: 'You answer in one short paragraph.' },
        { role: 'user', content },
      ],
      max_tokens: 256,
      temperature: 0.2,
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    })
  return withText(proseOf(Math.max(1, bytes - withText('').length)))
}

/** The messages request that asks for the same as a chat request of this file. */
export function messagesRequestOf(chat: string): string {
  const { messages, ...rest } = JSON.parse(chat) as {
    messages: readonly { role: string; content: string }[]
    stream_options?: object
  }
  delete rest.stream_options
  const [first, ...others] = messages
  return JSON.stringify({ ...rest, system: first?.content, messages: others })
}

/** A request for one embedding. */
export function embeddingsRequestOf(model: string): string {
  return JSON.stringify({ model, input: proseOf(900), encoding_format: 'float' })
}

function proseOf(length: number): string {
  const sentence = 'The headrace carries water from the intake gate to the turbines, metered on the way. '
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length)
}
