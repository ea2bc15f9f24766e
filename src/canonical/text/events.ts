import type { GatewayError } from '../../core/errors.ts'
import type { MediaTokens } from '../upstream.ts'
import type { Usage } from '../usage.ts'
import type { Annotation, Extras, OpaquePart, ReasoningPart } from './conversation.ts'

/**
 * What a model says, piece by piece, in the form in which formats meet. An upstream half makes the events of one answer in
 * this order: `begin`, then for each part `part_begin`, its pieces, `part_end`; then one `finish` for each choice, and
 * `usage` where it comes, whose last is the one that counts. Parts of one choice never overlap: an upstream half whose
 * provider interleaves them keeps the later one back. `failure` ends the stream in place of what is missing.
 */
export type TextEvent =
  | BeginEvent
  | PartBeginEvent
  | PieceEvent
  | PartEndEvent
  | FinishEvent
  | UsageEvent
  | FailureEvent

/** The answer begins; what the provider calls it and the model that gives it. */
export interface BeginEvent {
  type: 'begin'
  upstreamId: string | null
  upstreamModel: string | null
}

/** What a part is, before any of it is there, with what only the format of its provider says of it. */
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

/** More of the part that is open; an `annotation` may also be of a text that has ended. */
export interface PieceEvent {
  type: 'piece'
  choice: number
  part: number
  piece: Piece
}

/**
 * `text` of a text, refusal or reasoning; `summary` of a reasoning, whose paragraphs count from 0; `arguments` of a tool
 * call; and what is told about a part rather than in it.
 */
export type Piece =
  | { type: 'text'; text: string }
  | { type: 'summary'; text: string; index: number }
  | { type: 'arguments'; text: string }
  | { type: 'signature'; signature: string }
  | { type: 'sealed'; data: string }
  | { type: 'annotation'; annotation: Annotation }
  | { type: 'logprobs'; tokens: readonly TokenLogprob[] }

/** A token and how likely it was. `bytes` are its UTF-8, null when the provider does not tell. */
export interface TokenChance {
  token: string
  logprob: number
  bytes: readonly number[] | null
}

/** A token that was chosen, and what else it might have been. */
export interface TokenLogprob extends TokenChance {
  top: readonly TokenChance[]
}

/** The part is whole. */
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
  /** The stop text that ended it, where the provider tells. */
  stopSequence: string | null
  /** Why it was refused, where the provider tells. */
  refusal: { category: string | null; explanation: string | null } | null
}

/** A choice is whole. */
export interface FinishEvent extends Finish {
  type: 'finish'
  choice: number
}

/** What was used so far, as the provider counts it; read by the meter, shown by the caller half. */
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
  /** Searches and tools of its own that the provider counts beside the tokens; absent for none. */
  providerCalls?: number
}

/** The provider broke off, by its own word or by breaking its format. */
export interface FailureEvent {
  type: 'failure'
  error: GatewayError
}
