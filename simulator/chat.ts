import type { Call } from './call.ts'
import { answerChat, type ChatAnswer } from './chat-answer.ts'
import { type ChatRequest, parseChatRequest } from './chat-request.ts'
import type { ChatIdentity, ChatResult } from './chat-result.ts'
import { chatFrames } from './chat-stream.ts'
import type { Faults } from './faults.ts'
import type { JsonObject } from './json.ts'
import { logprobsOf } from './logprobs.ts'
import { lettersOf } from './random.ts'
import { eventReply, jsonReply, type Reply } from './reply.ts'
import { distortUsage } from './usage.ts'

/** `POST /chat/completions`. Throws `ApiError` for what OpenAI refuses. */
export function chatCompletion(call: Call): Reply {
  const request = parseChatRequest(call.body, call.faults.lenient === true)
  const answers = answerChat(request, call.faults)
  const model = request.model.snapshot ?? request.model.id
  const identity: ChatIdentity = {
    id: `chatcmpl-${lettersOf(call.key, 29)}`,
    created: call.createdSeconds,
    model,
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
      finish_reason: answer.finish,
    })),
    usage: distortUsage(result.usage, faults.usage),
    service_tier: 'default',
    system_fingerprint: identity.fingerprint,
  })
}

function chatMessage(answer: ChatAnswer, faults: Faults): JsonObject {
  const { calls } = answer
  return {
    role: 'assistant',
    content: answer.pieces?.join('') ?? null,
    ...(faults.reasoningField === undefined ? {} : { [faults.reasoningField]: answer.reasoning }),
    ...(calls.length > 0
      ? { tool_calls: calls.map(({ id, ...call }) => ({ id, type: 'function', function: call })) }
      : {}),
    refusal: answer.refusal,
    annotations: [],
  }
}

function chatUsage(request: ChatRequest, answers: readonly ChatAnswer[], faults: Faults): JsonObject {
  const completion = answers.reduce((sum, answer) => sum + answer.tokens, 0)
  const reasoning = answers.reduce((sum, answer) => sum + answer.reasoningTokens, 0)
  return {
    prompt_tokens: request.promptTokens,
    completion_tokens: completion,
    total_tokens: request.promptTokens + completion,
    prompt_tokens_details: {
      cached_tokens: Math.min(faults.cachedTokens ?? 0, request.promptTokens),
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
