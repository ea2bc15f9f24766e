import { type Answer, answerPrompt } from './answer.ts'
import type { Call } from './call.ts'
import { chatFinish } from './chat-finish.ts'
import { type CompletionsRequest, parseCompletionsRequest } from './completions-request.ts'
import type { Faults } from './faults.ts'
import type { JsonObject } from './json.ts'
import { completionLogprobs } from './logprobs.ts'
import type { Prompt } from './prompt.ts'
import { lettersOf } from './random.ts'
import { completionsForm, doneFrame, eventReply, frame, jsonReply, type Reply } from './reply.ts'
import type { Scripts } from './scripts.ts'
import { distortUsage } from './usage.ts'

/** One continuation of one prompt, with its index among all continuations. */
interface Continuation {
  answer: Answer
  /** The prompt when it is echoed; otherwise empty. */
  echoed: string
}

interface CompletionResult {
  identity: JsonObject
  request: CompletionsRequest
  continuations: readonly Continuation[]
  usage: JsonObject
  faults: Faults
}

/** Legacy `POST /completions`. Throws `ApiError` for requests that OpenAI refuses. */
export function completion(call: Call, scripts: Scripts): Reply {
  const { faults } = call
  const request = parseCompletionsRequest(call.body, faults)
  const continuations = request.prompts.flatMap(({ text }, at) => {
    const prompt = promptOf(text, request)
    const scripted = scripts.play({ path: '/v1/completions', model: request.model.id, prompt })
    return Array.from({ length: request.choices }, (_, index) => ({
      answer: answerPrompt(prompt, faults, scripted, at * request.choices + index),
      echoed: request.echo ? text : '',
    }))
  })
  const identity = {
    id: `cmpl-${lettersOf(call.key, 29)}`,
    object: 'text_completion',
    created: call.createdSeconds,
    model: request.model.id,
  }
  const result = { identity, request, continuations, usage: usageOf(request, continuations), faults }
  return request.stream ? eventReply(framesOf(result), completionsForm) : jsonReply(bodyOf(result))
}

/** The prompt for the model, which continues it; there are no tools, turns or thoughts. */
function promptOf(text: string, { stop, outputTokensMax }: CompletionsRequest): Prompt {
  return {
    opening: text,
    said: text,
    toolAnswer: null,
    modelTurns: 0,
    length: 1,
    tools: [],
    toolChoice: 'none',
    parallelToolCalls: false,
    answerSchema: null,
    stop,
    outputTokensMax,
    thoughtTokens: 0,
    callIdPrefix: 'call_',
  }
}

function bodyOf({ identity, request, continuations, usage, faults }: CompletionResult): string {
  const choices = continuations.map(({ answer, echoed }) => {
    const pieces = answer.pieces ?? []
    return {
      text: echoed + pieces.join(''),
      index: answer.index,
      logprobs: logprobsOf(pieces, echoed.length, request),
      finish_reason: chatFinish(answer),
    }
  })
  return JSON.stringify({ ...identity, choices, usage: distortUsage(usage, faults.usage) })
}

/**
 * A frame for each piece, a frame with the finish reason of each choice, then usage if it was requested. Each frame is
 * the object of a whole answer, with a piece of its texts.
 */
function* framesOf({ identity, request, continuations, usage, faults }: CompletionResult): Generator<string> {
  const isAsked = request.includeUsage || faults.usage === 'always'
  const hasUsage = isAsked && faults.usage !== 'missing'
  const written = (index: number, text: string, more: { logprobs?: unknown; reason?: string } = {}) =>
    frame({
      ...identity,
      choices: [{ text, index, logprobs: more.logprobs ?? null, finish_reason: more.reason ?? null }],
      ...(hasUsage ? { usage: null } : {}),
    })
  for (const { answer, echoed } of continuations) {
    if (echoed !== '') yield written(answer.index, echoed)
    let offset = echoed.length
    for (const piece of answer.pieces ?? []) {
      yield written(answer.index, piece, { logprobs: logprobsOf([piece], offset, request) })
      offset += piece.length
    }
    yield written(answer.index, '', { reason: chatFinish(answer) })
  }
  if (hasUsage) yield frame({ ...identity, choices: [], usage: distortUsage(usage, faults.usage) })
  yield doneFrame
}

function logprobsOf(pieces: readonly string[], offset: number, { logprobs }: CompletionsRequest): unknown {
  return logprobs === null ? null : completionLogprobs(pieces, offset, logprobs)
}

/** All answers of `best_of` are counted, also those that are not shown. */
function usageOf(request: CompletionsRequest, continuations: readonly Continuation[]): JsonObject {
  const prompt = request.prompts.reduce((sum, { tokens }) => sum + tokens, 0)
  const shown = continuations.reduce((sum, { answer }) => sum + answer.tokens, 0)
  const output = Math.round((shown * request.bestOf) / request.choices)
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output }
}
