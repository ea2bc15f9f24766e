import type { Answer, AnswerPart } from '../../../canonical/text/answer.ts'
import type { Annotation } from '../../../canonical/text/conversation.ts'
import type { Finish, FinishReason } from '../../../canonical/text/events.ts'
import type { AnswerContext, ShownCharge } from '../../../canonical/upstream.ts'
import { showCacheCreation, showCost, showMetadata } from '../shown-charge.ts'
import type { Asked, Settled } from '../halves.ts'
import { hasRefusal } from '../finish-reason.ts'
import { showSeal } from '../thoughts/reasoning-envelope.ts'
import { messagesTierOf } from '../../service-tier.ts'
import { toolInputOf } from '../tools/tool-input.ts'
import { directCaller, emptyUsage } from './pass-answer-required.ts'

type Wire = Record<string, unknown>

/** A whole message in the contract's form, whatever the provider's format. */
export function writeMessagesAnswer(answer: Answer, { context }: Asked, { charge, usage }: Settled): string {
  const [{ parts, finish } = { parts: [], finish: null }] = answer.choices
  return JSON.stringify({
    ...emptyMessage(context),
    content: parts.flatMap(writeBlock),
    ...writeStop(finish, hasRefusal(parts)),
    usage,
    ...showMetadata(charge, parts.some(({ head }) => head.type === 'image') ? lostImages : []),
  })
}

/** The format's answers have no images, so the metadata says that one was made. */
export const lostImages: readonly string[] = ['content[].image']

/** A message without content. */
export function emptyMessage(context: AnswerContext): Wire {
  return {
    id: context.generationId,
    type: 'message',
    role: 'assistant',
    model: context.model,
    provider: context.provider,
    content: [],
    container: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    diagnostics: null,
  }
}

function writeBlock(part: AnswerPart): Wire[] {
  return writeKnown(part).map((block) => ({ ...block, ...part.head.extras?.messages }))
}

function writeKnown(part: AnswerPart): Wire[] {
  const { head, text, summary, annotations } = part
  switch (head.type) {
    case 'text': {
      const citations = annotations.flatMap(writeCitation)
      return [{ type: 'text', text, citations }]
    }
    case 'refusal':
      return [{ type: 'text', text, citations: [] }]
    case 'reasoning':
      return writeThinking(part, text === '' ? summary.join('\n\n') : text)
    case 'tool_call':
      return [
        {
          type: 'tool_use',
          id: head.id,
          name: head.name,
          input: toolInputOf({ kind: head.kind, arguments: text }),
          caller: directCaller,
        },
      ]
    case 'opaque':
      return head.format === 'messages' ? [{ ...head.value }] : []
    case 'image':
      return []
  }
}

function writeThinking({ head, signature, sealed }: AnswerPart, shown: string): Wire[] {
  if (head.type !== 'reasoning') return []
  const bound = showSeal({ ...head, signature, sealed }, 'messages')
  if (shown === '' && bound !== null && sealed !== null) return [{ type: 'redacted_thinking', data: bound }]
  return [{ type: 'thinking', thinking: shown, signature: bound ?? '' }]
}

/** A citation in its own format's form, or one of a page. */
export function writeCitation({ url, title, citedText, extras }: Annotation): Wire[] {
  if (extras?.messages !== undefined) return [{ ...extras.messages }]
  if (url === null) return []
  return [
    {
      type: 'web_search_result_location',
      url,
      title: title ?? url,
      cited_text: citedText ?? '',
      encrypted_index: '',
    },
  ]
}

const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  error: 'end_turn',
}

/** Stop reasons of the format itself pass, also as other formats spell them. */
const ownWords: ReadonlySet<string> = new Set([
  'pause_turn',
  'compaction',
  'model_context_window_exceeded',
  'stop_sequence',
])

/** How the message ended. With `hasRefused` the model refused in its answer, and may call that an ordinary end. */
export function writeStop(finish: Finish | null, hasRefused = false): Wire {
  if (finish === null) return { stop_reason: null, stop_sequence: null, stop_details: null }
  const { native, stopSequence, refusal } = finish
  const reason = hasRefused && finish.reason === 'stop' ? 'content_filter' : finish.reason
  const word = native?.toLowerCase() ?? ''
  const own = ownWords.has(word) ? word : null
  return {
    stop_reason: stopSequence === null ? (own ?? stopReasons[reason]) : 'stop_sequence',
    stop_sequence: stopSequence,
    stop_details:
      reason === 'content_filter'
        ? { type: 'refusal', category: refusal?.category ?? null, explanation: refusal?.explanation ?? null }
        : null,
  }
}

/** The counts in the format's form (input without cached tokens), and the charge. */
export function writeMessagesUsage(charge: ShownCharge, serviceTier: string | null): Wire {
  const { usage } = charge
  const { inputTokens, cachedInputTokens: cached, cacheWriteTokens: written } = usage
  return {
    ...emptyUsage,
    input_tokens: Math.max(0, inputTokens - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    cache_creation: showCacheCreation(usage),
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    service_tier: messagesTierOf(serviceTier),
    ...showCost(charge),
    is_byok: charge.isByok,
  }
}
