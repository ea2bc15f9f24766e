import type { Call } from './call.ts'
import { type Answer, type AnsweredCall, answerPrompt, type GivenUsage } from './answer.ts'
import { chatFinish } from './chat-finish.ts'
import { lastUserText } from './chat-messages.ts'
import { type ChatRequest, parseChatRequest } from './chat-request.ts'
import type { ChatIdentity, ChatResult } from './chat-result.ts'
import { chatFrames } from './chat-stream.ts'
import { contentOf } from './chat-thoughts.ts'
import type { Faults } from './faults.ts'
import { openAiTierOf } from './flex-tier.ts'
import type { JsonObject } from './json.ts'
import { logprobsOf } from './logprobs.ts'
import { type Prompt, thoughtTokensOf } from './prompt.ts'
import { lettersOf } from './random.ts'
import { eventReply, jsonReply, type Reply } from './reply.ts'
import type { Scripts } from './scripts.ts'
import { distortUsage } from './usage.ts'

/** `POST /chat/completions`. Throws `ApiError` for requests that OpenAI refuses. */
export function chatCompletion(call: Call, scripts: Scripts): Reply {
  const request = parseChatRequest(call.body, call.faults)
  const prompt = chatPrompt(request)
  const name = String(call.body['model'])
  const scripted = scripts.play({ path: '/v1/chat/completions', model: name, prompt })
  const answers = Array.from({ length: request.choices }, (_, index) =>
    answerPrompt(prompt, call.faults, scripted, index),
  )
  const model = request.model.snapshot ?? request.model.id
  const identity: ChatIdentity = {
    id: `chatcmpl-${lettersOf(call.key, 29)}`,
    created: call.createdSeconds,
    model,
    tier: openAiTierOf(call.body),
    fingerprint: `fp_${Bun.hash.xxHash32(model).toString(16).padStart(10, '0')}`,
  }
  const usage = chatUsage(request, answers, call.faults)
  if (request.stream)
    return eventReply(chatFrames({ identity, request, answers, usage, faults: call.faults }))
  return jsonReply(chatBody({ identity, request, answers, usage, faults: call.faults }))
}

function chatBody(result: ChatResult): string {
  const { identity, request, answers, faults } = result
  return JSON.stringify({
    id: identity.id,
    object: 'chat.completion',
    created: identity.created,
    model: identity.model,
    choices: answers.map((answer) => ({
      index: answer.index,
      message: chatMessage(answer, faults),
      logprobs: request.logprobs ? logprobsOf(answer.pieces ?? [], request.topLogprobs) : null,
      finish_reason: chatFinish(answer),
    })),
    usage: distortUsage(result.usage, faults.usage),
    service_tier: identity.tier,
    system_fingerprint: identity.fingerprint,
  })
}

function chatMessage(answer: Answer, faults: Faults): JsonObject {
  const { calls } = answer
  return {
    role: 'assistant',
    content: contentOf(answer, faults),
    ...(faults.reasoningField === undefined ? {} : { [faults.reasoningField]: answer.thoughts }),
    ...(calls.length > 0 ? { tool_calls: calls.map(chatCall) } : {}),
    refusal: answer.refusal,
    annotations: [],
  }
}

function chatCall({ id, name, arguments: given, isCustom }: AnsweredCall): JsonObject {
  return isCustom
    ? { id, type: 'custom', custom: { name, input: given } }
    : { id, type: 'function', function: { name, arguments: given } }
}

/** The model's input from a chat request. */
function chatPrompt(request: ChatRequest): Prompt {
  const { messages, model } = request
  const first = messages.findIndex((message) => message.role === 'assistant')
  const before = first < 0 ? messages : messages.slice(0, first)
  const last = messages.at(-1)
  return {
    opening: before
      .filter((message) => message.role === 'user')
      .map((message) => message.text)
      .join('\n'),
    said: lastUserText(messages),
    toolAnswer: last?.role === 'tool' ? last.text : null,
    modelTurns: messages.filter((message) => message.role === 'assistant').length,
    length: messages.length,
    tools: request.tools,
    toolChoice: request.toolChoice,
    parallelToolCalls: request.parallelToolCalls,
    answerSchema: request.answerSchema,
    stop: request.stop,
    outputTokensMax: request.outputTokensMax,
    thoughtTokens: model.reasoning === true ? thoughtTokensOf(request.effort) : 0,
    callIdPrefix: 'call_',
  }
}

function chatUsage(request: ChatRequest, answers: readonly Answer[], faults: Faults): JsonObject {
  const given = answers[0]?.usage ?? {}
  const prompt = given.input ?? request.promptTokens
  const completion = answers.reduce((sum, answer) => sum + answer.tokens, 0)
  const reasoning = answers.reduce((sum, answer) => sum + answer.reasoningTokens, 0)
  const written = faults.cacheWriteTokens ?? writtenIn(given)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: Math.min(faults.cachedTokens ?? given.cacheRead ?? 0, prompt),
      ...(written === undefined ? {} : { cache_write_tokens: written }),
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

/** Chat does not report how long written tokens stay cached. */
function writtenIn({ cacheWrite5m, cacheWrite1h }: GivenUsage): number | undefined {
  if (cacheWrite5m === undefined && cacheWrite1h === undefined) return undefined
  return (cacheWrite5m ?? 0) + (cacheWrite1h ?? 0)
}
