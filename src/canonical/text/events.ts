import type { GatewayError } from '../../core/errors.ts'
import type { MediaTokens } from '../upstream.ts'
import type { Usage } from '../usage.ts'
import type { Annotation, Extras, OpaquePart, ReasoningPart } from './conversation.ts'

/**
 * A model's answer, piece by piece, in the form that all formats share. An upstream half emits one answer's events in this
 * order: `begin`; for each part `part_begin`, its pieces, `part_end`; then one `finish` for each choice. `usage` may come
 * anywhere, and the last one counts. Parts of one choice never overlap: when a provider interleaves them, the upstream
 * half keeps the later one back. `failure` ends the stream in place of the missing events.
 */
export type TextEvent =
  | BeginEvent
  | PartBeginEvent
  | PieceEvent
  | PartEndEvent
  | FinishEvent
  | UsageEvent
  | FailureEvent

/** The answer begins: the provider's id for it, and the model's name. */
export interface BeginEvent {
  type: 'begin'
  upstreamId: string | null
  upstreamModel: string | null
}

/** A part's kind, before any of its content, with facts that only its provider's format has. */
export type PartHead =
  | ((
      | { type: 'text' }
      | { type: 'refusal' }
      | ({ type: 'reasoning' } & Pick<ReasoningPart, 'id' | 'origin' | 'sealer'>)
      | { type: 'tool_call'; id: string; name: string; kind: 'function' | 'custom' }
      | { type: 'image'; mediaType: string; base64: string }
    ) & { extras?: Extras })
  | OpaquePart

/** A part begins. `part` counts from 0 within the choice, in the order of the answer. */
export interface PartBeginEvent {
  type: 'part_begin'
  choice: number
  part: number
  head: PartHead
}

/** A piece of the open part; an `annotation` may also belong to a text that has ended. */
export interface PieceEvent {
  type: 'piece'
  choice: number
  part: number
  piece: Piece
}

/**
 * `text` of a text, refusal or reasoning; `summary` of a reasoning, whose paragraphs count from 0; `arguments` of a tool
 * call; and facts about a part that are not part of its content.
 */
export type Piece =
  | { type: 'text'; text: string }
  | { type: 'summary'; text: string; index: number }
  | { type: 'arguments'; text: string }
  | { type: 'signature'; signature: string }
  | { type: 'sealed'; data: string }
  | { type: 'annotation'; annotation: Annotation }
  | { type: 'logprobs'; tokens: readonly TokenLogprob[] }

/** A token and its probability. `bytes` are its UTF-8; null when the provider does not send them. */
export interface TokenChance {
  token: string
  logprob: number
  bytes: readonly number[] | null
}

/** A chosen token and its alternatives. */
export interface TokenLogprob extends TokenChance {
  top: readonly TokenChance[]
}

/** The part is complete. */
export interface PartEndEvent {
  type: 'part_end'
  choice: number
  part: number
}

/** Why an answer ended. `error`: the provider gave up in the middle. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error'

/** How one choice ended. */
export interface Finish {
  reason: FinishReason
  /** The provider's own word. */
  native: string | null
  /** The stop text that ended it, if the provider reports one. */
  stopSequence: string | null
  /** Why the answer was refused, if the provider says so. */
  refusal: { category: string | null; explanation: string | null } | null
}

/** The choice is complete. */
export interface FinishEvent extends Finish {
  type: 'finish'
  choice: number
}

/** The usage so far, as the provider counts it. The meter reads it, and the caller half shows it. */
export interface UsageEvent {
  type: 'usage'
  usage: ReportedUsage
}

/** A provider's own counts. */
export interface ReportedUsage {
  usage: Usage
  mediaTokens: MediaTokens | null
  serviceTier: string | null
  reportedCostNanocredits: bigint | null
  /** Searches and the provider's own tools, counted beside the tokens; absent when there were none. */
  providerCalls?: number
}

/** The provider broke off, by an error of its own or by breaking its format. */
export interface FailureEvent {
  type: 'failure'
  error: GatewayError
}
