import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Frames with text in a streamed reply, as the budgets name it. */
const chunkCount = 50

/** Static answers of the upstream by name; each is a model of its own, `bench/<name>`. */
export const replyNames = ['json-1k', 'json-4k', 'json-100k', 'json-1m', 'sse-50'] as const
export type ReplyName = (typeof replyNames)[number]

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
  return folder
}

/** A chat completion of exactly `bytes` bytes. */
function answerOf(bytes: number): string {
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

function proseOf(length: number): string {
  const sentence = 'The headrace carries water from the intake gate to the turbines, metered on the way. '
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length)
}
