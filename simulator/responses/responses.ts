import { type Answer, answerPrompt } from '../answer.ts'
import type { Call } from '../call.ts'
import { chatFinish } from '../chat-finish.ts'
import type { Faults } from '../faults.ts'
import { openAiTierOf } from '../flex-tier.ts'
import { isObject, type JsonObject } from '../json.ts'
import type { Mount } from '../mounts.ts'
import { type Prompt, thoughtTokensOf } from '../prompt.ts'
import { eventReply, jsonReply, type Reply } from '../reply.ts'
import { distortUsage } from '../usage.ts'
import type { ReadItem } from './items.ts'
import { idOf, outputItems } from './output-items.ts'
import { itemsIn, readResponsesRequest, type ResponsesRequest } from './request.ts'
import { responseForm, responseFrames, type ResponsesResult } from './stream.ts'

/** `POST /responses`. Throws `ApiError` for requests that OpenAI refuses. */
export function responses(call: Call, mount: Mount): Reply {
  const { body, faults, key } = call
  const request = readResponsesRequest(body, mount.responses, faults)
  const prompt = responsesPrompt(request)
  const model = String(body['model'])
  const scripted = mount.scripts.play({ path: '/v1/responses', model, prompt })
  const given = answerPrompt(prompt, faults, scripted)
  const answer = { ...given, finish: chatFinish(given) }
  const items = outputItems({ request, answer, faults, key })
  const begun = begunResponse(call, request)
  const output = items.map((item) => item.whole)
  const ended = {
    ...begun,
    ...ending(answer),
    completed_at: call.createdSeconds,
    output,
    service_tier: openAiTierOf(body),
    usage: distortUsage(responsesUsage(request, answer, faults), faults.usage),
  }
  if (request.store) {
    const before = mount.responses.get(String(body['previous_response_id']))?.items ?? []
    const conversation = [...before, ...itemsIn(body['input']), ...output]
    mount.responses.keep(String(begun['id']), { body: ended, items: conversation })
  }
  const { includeObfuscation } = request
  const result: ResponsesResult = { begun, ended, items, includeObfuscation, faults, key }
  return request.stream
    ? eventReply(responseFrames(result), responseForm(begun))
    : jsonReply(JSON.stringify(ended))
}

/** `POST /responses/input_tokens`. */
export function countInputTokens(call: Call, mount: Mount): Reply {
  const { inputTokens } = readResponsesRequest(call.body, mount.responses, call.faults)
  return jsonReply(JSON.stringify({ object: 'response.input_tokens', input_tokens: inputTokens }))
}

/** The response in its first events: in progress, with the request's settings repeated. */
function begunResponse(call: Call, { model, store, effort }: ResponsesRequest): JsonObject {
  const { body } = call
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {}
  const text = isObject(body['text']) ? body['text'] : {}
  return {
    id: idOf('resp', call.key),
    object: 'response',
    created_at: call.createdSeconds,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    model: model.snapshot ?? model.id,
    output: [],
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    prompt_cache_retention: body['prompt_cache_retention'] ?? null,
    reasoning: {
      effort: effort === 'none' ? (reasoning['effort'] ?? null) : effort,
      summary: reasoning['summary'] ?? null,
    },
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: body['service_tier'] ?? 'auto',
    store,
    temperature: body['temperature'] ?? 1,
    text: { format: text['format'] ?? { type: 'text' }, verbosity: text['verbosity'] ?? 'medium' },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    usage: null,
    user: body['user'] ?? null,
    metadata: body['metadata'] ?? {},
  }
}

function ending({ finish }: Answer): JsonObject {
  const reasons: Record<string, string> = { length: 'max_output_tokens', content_filter: 'content_filter' }
  const reason = reasons[finish]
  return reason === undefined
    ? { status: 'completed' }
    : { status: 'incomplete', incomplete_details: { reason } }
}

function responsesUsage(request: ResponsesRequest, answer: Answer, faults: Faults): JsonObject {
  const given = answer.usage
  const input = given.input ?? request.inputTokens
  const cacheWritten = (given.cacheWrite5m ?? 0) + (given.cacheWrite1h ?? 0)
  const written = faults.cacheWriteTokens ?? cacheWritten
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: Math.min(faults.cachedTokens ?? given.cacheRead ?? 0, input),
      ...(written === 0 ? {} : { cache_write_tokens: written }),
    },
    output_tokens: answer.tokens,
    output_tokens_details: { reasoning_tokens: answer.reasoningTokens },
    total_tokens: input + answer.tokens,
  }
}

function responsesPrompt(request: ResponsesRequest): Prompt {
  const { items } = request
  const firstAnswer = items.findIndex((item) => item.source === 'model')
  const opening = firstAnswer < 0 ? items : items.slice(0, firstAnswer)
  return {
    opening: userTexts(opening).join('\n'),
    said: userTexts(items).at(-1) ?? '',
    toolAnswer: lastToolAnswer(items),
    modelTurns: items.filter((item, at) => item.source === 'model' && items[at - 1]?.source !== 'model')
      .length,
    length: items.length,
    tools: request.tools,
    toolChoice: request.toolChoice,
    parallelToolCalls: request.parallelToolCalls,
    answerSchema: request.answerSchema,
    stop: [],
    outputTokensMax: request.outputTokensMax,
    thoughtTokens: thoughtTokensOf(request.effort),
    callIdPrefix: 'call_',
  }
}

function userTexts(items: readonly ReadItem[]): string[] {
  return items.filter((item) => item.source === 'user').map((item) => item.text)
}

/** The results of tools at the end of the conversation; null when it ends with another item. */
function lastToolAnswer(items: readonly ReadItem[]): string | null {
  const from = items.findLastIndex((item) => item.source !== 'tool') + 1
  return from === items.length
    ? null
    : items
        .slice(from)
        .map((item) => item.text)
        .join('\n')
}
