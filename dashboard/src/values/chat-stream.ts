import { send } from '../api/client.ts'
import { readEvents } from '../api/events.ts'
import { ApiFailure } from '../api/failure.ts'

export interface ToolCall {
  id: string
  name: string
  /** JSON as the model wrote it, so far. */
  arguments: string
}

export interface ChatUsage {
  cost: number | null
  promptTokens: number
  completionTokens: number
  reasoningTokens: number
}

/** An answer as far as it has come. */
export interface ChatAnswer {
  text: string
  reasoning: string
  toolCalls: readonly ToolCall[]
  finishReason: string | null
  provider: string | null
  generationId: string | null
  requestId: string | null
  firstTokenMs: number | null
  totalMs: number | null
  usage: ChatUsage | null
  /** Members of the request that the provider could not take. */
  dropped: readonly string[]
}

export const emptyAnswer: ChatAnswer = {
  text: '',
  reasoning: '',
  toolCalls: [],
  finishReason: null,
  provider: null,
  generationId: null,
  requestId: null,
  firstTokenMs: null,
  totalMs: null,
  usage: null,
  dropped: [],
}

interface Chunk {
  provider?: string
  error?: {
    message?: string
    code?: number | string
    metadata?: { error_type?: string }
    error_type?: string
  }
  headrace_metadata?: { dropped?: string[] }
  choices?: {
    finish_reason?: string | null
    delta?: {
      content?: string | null
      reasoning?: string | null
      tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[]
    }
  }[]
  usage?: {
    cost?: number
    prompt_tokens?: number
    completion_tokens?: number
    completion_tokens_details?: { reasoning_tokens?: number }
  } | null
}

/**
 * Sends a chat completion whose body asks for a stream, and tells `onAnswer` how far its answer is, once a frame at most: a fast model would else
 * make the page draw hundreds of times a second. Rejects with what was shown kept by the caller.
 */
export async function streamChat(
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  onAnswer: (answer: ChatAnswer) => void,
): Promise<ChatAnswer> {
  const startMs = performance.now()
  const response = await send('POST', '/chat/completions', {
    body: JSON.stringify(body),
    type: 'application/json',
    signal,
  })
  let answer: ChatAnswer = {
    ...emptyAnswer,
    generationId: response.headers.get('x-generation-id'),
    requestId: response.headers.get('x-request-id'),
    provider: response.headers.get('x-provider-name'),
  }
  onAnswer(answer)
  const shown = oncePerFrame(() => onAnswer(answer))
  try {
    if (response.body === null) return answer
    for await (const { data } of readEvents(response.body)) {
      if (data === '[DONE]') break
      answer = withChunk(answer, JSON.parse(data) as Chunk, performance.now() - startMs)
      shown.ask()
    }
    return answer
  } finally {
    answer = { ...answer, totalMs: performance.now() - startMs }
    shown.now()
  }
}

function withChunk(answer: ChatAnswer, chunk: Chunk, ms: number): ChatAnswer {
  if (chunk.error !== undefined) throw brokenOff(chunk.error, answer)
  const choice = chunk.choices?.[0]
  const delta = choice?.delta ?? {}
  const hasOutput =
    (delta.content ?? '') !== '' || (delta.reasoning ?? '') !== '' || delta.tool_calls !== undefined
  return {
    ...answer,
    text: answer.text + (delta.content ?? ''),
    reasoning: answer.reasoning + (delta.reasoning ?? ''),
    toolCalls: withToolCalls(answer.toolCalls, delta.tool_calls ?? []),
    finishReason: choice?.finish_reason ?? answer.finishReason,
    provider: chunk.provider ?? answer.provider,
    firstTokenMs: answer.firstTokenMs ?? (hasOutput ? ms : null),
    dropped: chunk.headrace_metadata?.dropped ?? answer.dropped,
    usage: chunk.usage == null ? answer.usage : toUsage(chunk.usage),
  }
}

function toUsage(usage: NonNullable<Chunk['usage']>): ChatUsage {
  return {
    cost: usage.cost ?? null,
    promptTokens: usage.prompt_tokens ?? 0,
    completionTokens: usage.completion_tokens ?? 0,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}

type ToolDelta = NonNullable<
  NonNullable<NonNullable<Chunk['choices']>[number]['delta']>['tool_calls']
>[number]

function withToolCalls(calls: readonly ToolCall[], deltas: readonly ToolDelta[]): readonly ToolCall[] {
  if (deltas.length === 0) return calls
  const next = [...calls]
  for (const delta of deltas) {
    const index = delta.index ?? 0
    const before = next[index] ?? { id: '', name: '', arguments: '' }
    next[index] = {
      id: delta.id ?? before.id,
      name: before.name + (delta.function?.name ?? ''),
      arguments: before.arguments + (delta.function?.arguments ?? ''),
    }
  }
  return next
}

function brokenOff(error: NonNullable<Chunk['error']>, answer: ChatAnswer): ApiFailure {
  return new ApiFailure({
    status: Number(error.code) || 502,
    type: error.metadata?.error_type ?? error.error_type ?? 'provider_failed',
    message: error.message ?? 'The provider broke off.',
    requestId: answer.requestId,
  })
}

/** Runs `draw` in the next frame however often it is asked for; `now` draws what is left. */
function oncePerFrame(draw: () => void): { ask: () => void; now: () => void } {
  let frame: number | null = null
  return {
    ask() {
      frame ??= requestAnimationFrame(() => {
        frame = null
        draw()
      })
    },
    now() {
      if (frame !== null) cancelAnimationFrame(frame)
      draw()
    },
  }
}
