import type { LeanJson } from '../../json/document.ts'

/** How an operation's callers have a conversation compacted. Pure: `execution/compaction` seals and opens. */
export interface CompactionFormat {
  /** Whether a body may have anything to do with it: a quick look at every body. */
  mayConcern(body: Uint8Array): boolean
  /**
   * Null for a body that neither has a compacted part of this gateway nor asks for one. `isAsked`: the caller asks for
   * nothing else, without a word in the body. Throws `invalid_request`.
   */
  read(body: Uint8Array, lean: LeanJson | null, isAsked: boolean): CompactionRequest | null
}

/** What a body has to do with compaction. */
export interface CompactionRequest {
  /** The parts that this gateway sealed. */
  sealed: readonly SealedPart[]
  /** The body for a model, with what was sealed in its place, in the same order. */
  bodyWith(opened: readonly string[]): Uint8Array
  /** The compaction that is asked for, which is what the body is for then; null for none. */
  compact(opened: readonly string[]): Compaction | null
}

/** A compacted part of a conversation. */
export interface SealedPart {
  text: string
  /** Where it stands, such as `input[3].encrypted_content`. */
  param: string
}

/** A compaction under way: how the model's answer becomes the caller's. */
export interface Compaction {
  /** The model's whole answer as the caller's. Rejects with `provider_failed` where the answer has no summary and no way to say so. */
  writeAnswer(answer: Uint8Array, seal: SealPart): Promise<string>
  createStream(seal: SealPart): CompactionStream
}

/** Seals a part, as the text that the caller keeps and sends back. */
export type SealPart = (part: string) => Promise<string>

/** Turns the stream of a summary into the stream of a compaction, read by read. */
export interface CompactionStream {
  /** What the caller is sent now; empty for nothing. Throws a RangeError when an event grows beyond the bound. */
  push(chunk: Uint8Array): Promise<Uint8Array>
  end(): Promise<Uint8Array>
}
