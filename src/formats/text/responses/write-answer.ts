import { type Answer, type AnswerChoice, type AnswerPart, emptyPart } from '../../../canonical/text/answer.ts'
import type { TextCall } from '../../../canonical/call.ts'
import type { Annotation } from '../../../canonical/text/conversation.ts'
import type { Finish, PartHead, TokenLogprob } from '../../../canonical/text/events.ts'
import type { ShownCharge } from '../../../canonical/upstream.ts'
import { noArguments } from '../tools/tool-input.ts'
import { isRecord } from '../../../json/values.ts'
import { showCacheCreation, showCost, showCostDetails, showMetadata } from '../shown-charge.ts'
import { writeLogprob } from '../logprobs.ts'
import type { Asked, Settled } from '../halves.ts'
import { hasMember, memberValue } from '../../../json/document.ts'
import { explanationOf, hasRefusal } from '../finish-reason.ts'
import { showSeal } from '../thoughts/reasoning-envelope.ts'
import { openAiTierOf } from '../../service-tier.ts'
import { toldTools } from './pass-answer-required.ts'
import { type NamespacedName, readNamespacedNames } from './tool-namespaces.ts'

type Wire = Record<string, unknown>

/** A whole response in the contract's form, whatever the provider's format. */
export function writeResponsesAnswer(answer: Answer, asked: Asked, settled: Settled): string {
  const [choice] = answer.choices
  const response = emptyResponse(asked)
  const place = { generationId: asked.context.generationId, names: readNamespacedNames(response['tools']) }
  return JSON.stringify({
    ...response,
    ...writeStatus(choice?.finish ?? null),
    completed_at: asked.context.created,
    output: writeOutput(choice, place),
    service_tier: openAiTierOf(settled.serviceTier) ?? 'default',
    usage: settled.usage,
    ...showMetadata(settled.charge),
  })
}

/** A call, and what a response tells of who answers it. */
interface AskedResponse {
  call: TextCall
  context: Pick<Asked['context'], 'generationId' | 'created' | 'model' | 'provider'>
}

/** A response without output; it repeats the request's own settings. */
export function emptyResponse({ context, call }: AskedResponse): Wire {
  const value = (name: string): unknown =>
    hasMember(call.document, name) ? memberValue(call.document, name) : null
  const text = value('text')
  const reasoning = value('reasoning')
  return {
    id: context.generationId,
    object: 'response',
    created_at: context.created,
    completed_at: null,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: value('instructions'),
    max_output_tokens: value('max_output_tokens'),
    max_tool_calls: value('max_tool_calls'),
    model: context.model,
    provider: context.provider,
    output: [],
    parallel_tool_calls: value('parallel_tool_calls') ?? true,
    previous_response_id: null,
    prompt_cache_key: value('prompt_cache_key'),
    reasoning: { effort: null, summary: null, ...(isRecord(reasoning) ? reasoning : {}) },
    safety_identifier: value('safety_identifier'),
    service_tier: value('service_tier') ?? 'auto',
    store: false,
    background: false,
    temperature: value('temperature') ?? 1,
    presence_penalty: value('presence_penalty') ?? 0,
    frequency_penalty: value('frequency_penalty') ?? 0,
    text: { format: { type: 'text' }, ...(isRecord(text) ? text : {}) },
    tool_choice: value('tool_choice') ?? 'auto',
    tools: toldTools(value('tools')),
    top_logprobs: value('top_logprobs') ?? 0,
    top_p: value('top_p') ?? 1,
    truncation: 'disabled',
    usage: null,
    user: userOf(call),
    metadata: value('metadata') ?? {},
  }
}

function userOf({ userId }: TextCall): string | null {
  return userId
}

/** How the response ended. */
export function writeStatus(finish: Finish | null): Wire {
  switch (finish?.reason) {
    case 'length':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    case 'content_filter':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
    case 'error':
      return {
        status: 'failed',
        error: {
          type: 'server_error',
          code: 'server_error',
          message: 'The provider ended the answer with an error.',
        },
      }
    default:
      return { status: 'completed' }
  }
}

/** The id of an item of a response: the same in every event that shows the item. */
export function itemId(
  kind: 'msg' | 'fc' | 'ctc' | 'rs' | 'ig',
  generationId: string,
  index: number,
): string {
  return `${kind}_${generationId}-${index}`
}

function writeOutput(choice: AnswerChoice | undefined, place: ItemsOf): Wire[] {
  const { generationId } = place
  const items: Wire[] = []
  let message: { content: Wire[] } | null = null
  for (const part of choice === undefined ? [] : shownParts(choice)) {
    const content = writeContent(part)
    if (content === null) {
      message = null
      const item = writeItem(part, place, items.length)
      if (item !== null) items.push(item)
      continue
    }
    if (message === null) {
      message = { content: [] }
      items.push(messageItem(itemId('msg', generationId, items.length), 'completed', message.content))
    }
    message.content.push(content)
  }
  return items
}

/** The parts, and the explanation of a refusal when it is not among them. */
function shownParts({ parts, finish }: AnswerChoice): readonly AnswerPart[] {
  const text = explanationOf(finish, hasRefusal(parts))
  return text === null ? parts : [...parts, { ...emptyPart({ type: 'refusal' }), text }]
}

/** A message item; its content may still grow. */
export function messageItem(id: string, status: string, content: readonly Wire[]): Wire {
  return { id, type: 'message', role: 'assistant', status, content }
}

/** A part of a message; null for a part that is its own item. */
export function writeContent({ head, text, annotations, logprobs }: AnswerPart): Wire | null {
  if (head.type === 'refusal') return { type: 'refusal', refusal: text }
  if (head.type !== 'text') return null
  return {
    type: 'output_text',
    text,
    annotations: annotations.flatMap(writeAnnotation),
    logprobs: logprobs?.map(writeLogprobs) ?? [],
  }
}

/** The response that items belong to, and the caller's names of tools that the provider knows by a flat name. */
export interface ItemsOf {
  generationId: string
  names: ReadonlyMap<string, NamespacedName>
}

/** A part as an item; null for a part that only another format has. */
export function writeItem(part: AnswerPart, place: ItemsOf, index: number): Wire | null {
  const { head, text } = part
  const { generationId } = place
  switch (head.type) {
    case 'tool_call':
      return callItem(head, { ...place, index, text, status: 'completed' })
    case 'reasoning':
      return reasoningItem(part, generationId, index)
    case 'image':
      return {
        id: itemId('ig', generationId, index),
        type: 'image_generation_call',
        status: 'completed',
        result: head.base64,
      }
    case 'opaque':
      return head.format === 'responses' ? { ...head.value } : null
    default:
      return null
  }
}

/** A tool call, with its arguments so far. */
export function callItem(
  { id, name, kind }: Extract<PartHead, { type: 'tool_call' }>,
  { generationId, names, index, text, status }: ItemsOf & { index: number; text: string; status: string },
): Wire {
  const named = names.get(name) ?? { name }
  if (kind === 'custom') {
    const custom = itemId('ctc', generationId, index)
    return { id: custom, type: 'custom_tool_call', call_id: id, ...named, input: text, status }
  }
  const called = text === '' && status === 'completed' ? noArguments : text
  return {
    id: itemId('fc', generationId, index),
    type: 'function_call',
    call_id: id,
    ...named,
    arguments: called,
    status,
  }
}

/** A thought. A seal of another provider goes into an envelope, so that the client sends it back intact. */
export function reasoningItem(part: AnswerPart, generationId: string, index: number): Wire | null {
  const { head, text, summary, signature, sealed } = part
  if (head.type !== 'reasoning') return null
  const { id } = head
  const bound = showSeal({ ...head, signature, sealed }, 'responses', text)
  return {
    id: id ?? itemId('rs', generationId, index),
    type: 'reasoning',
    summary: summary.map((paragraph) => ({ type: 'summary_text', text: paragraph })),
    ...(text === '' ? {} : { content: [{ type: 'reasoning_text', text }] }),
    ...(bound === null ? {} : { encrypted_content: bound }),
  }
}

/** The format cannot cite a source without a URL. */
export function writeAnnotation({ url, title, start, end }: Annotation): Wire[] {
  if (url === null) return []
  return [{ type: 'url_citation', url, title: title ?? url, start_index: start ?? 0, end_index: end ?? 0 }]
}

/** A token in the format's form: its bytes are never null. */
export function writeLogprobs(token: TokenLogprob): Wire {
  const { bytes, ...shown } = writeLogprob(token)
  return { ...shown, bytes: bytes ?? [] }
}

/** The counts in the format's form, and the charge. */
export function writeResponsesUsage(charge: ShownCharge): Wire {
  const { usage } = charge
  const details = showCostDetails(charge)
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    ...(usage.cacheWriteHourTokens > 0 ? { cache_creation: showCacheCreation(usage) } : {}),
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
    ...showCost(charge),
    cost_details: {
      upstream_inference_cost: details.upstream_inference_cost,
      upstream_inference_input_cost: details.upstream_inference_prompt_cost,
      upstream_inference_output_cost: details.upstream_inference_completions_cost,
    },
    is_byok: charge.isByok,
  }
}
