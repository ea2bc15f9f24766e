import type { z } from 'zod'
import type { TextCall } from '../../canonical/call.ts'
import type { ClientConvention } from '../client-convention.ts'
import type { CompactionFormat } from './compaction-format.ts'
import type { DecodeContext } from './decode-context.ts'
import type { StreamFrames } from './halves.ts'
import type { SocketTurns } from './socket-format.ts'

/**
 * The large member of a text operation's body, which differs between batch items, and how to check it without building
 * its values.
 */
export interface Bulk {
  member: 'messages' | 'input'
  /** Whether such a value (valid JSON) surely passes the decoder and needs exactly the tokens of `estimateTokens`. */
  isPlain(value: Buffer): boolean
  /** The shortest plain value. */
  sample: Buffer
}

/** A call that counts the tokens of a prompt and asks no model. */
export interface TokenCount {
  /** The path below the operation's own. */
  path: string
  /** Label of the log line and the metrics. */
  name: string
  /** The body of its answer. */
  write(inputTokens: number): Readonly<Record<string, unknown>>
}

/** What execution needs to know of a text operation, so that it need not know the members of bodies. */
export interface TextOperation {
  /** Reads a body as a call. Throws `invalid_request`. */
  decode(bytes: Uint8Array, context: DecodeContext): TextCall
  /** Null for an operation that batches do not run. */
  bulk: Bulk | null
  /** The conventions of its clients: the envelope of an error, and names of headers. */
  convention: ClientConvention
  /** The frames that its streams show before any provider has answered; null when it never streams. */
  stream: StreamFrames | null
  /** How its callers count the tokens of a prompt without an answer; null when the format has no such call. */
  tokenCount: TokenCount | null
  /** How its callers have a conversation compacted; absent where the format has no such thing. */
  compaction?: CompactionFormat
  /** How its turns go over a WebSocket; absent where no socket is served. */
  turns?: SocketTurns
  /** The member that limits the output; an error names it when a smaller limit would be affordable. Null for none. */
  outputLimit: string | null
  /** The member with which a caller names the prompt cache to reuse; null for none. */
  cacheKey: string | null
  /** The members that come before a conversation's messages in a prompt; absent for what is no conversation. */
  opening?: readonly string[]
  /**
   * Whether endpoints declare which of its parameters they honour; otherwise it turns out when a request is written.
   */
  hasToldParameters: boolean
  /** Its entry in the API description; absent when `http/api-description.ts` has it. */
  described?: DescribedOperation
}

/** An operation in the API description. */
export interface DescribedOperation {
  /** Its id there, such as `createRerank`. */
  id: string
  summary: string
  description: string
  request: { schema: z.ZodType; example: unknown }
  answer: { description: string; schema: z.ZodType; example: unknown }
  /** The data of one event; null when it never streams. */
  event: { schema: z.ZodType; example: unknown } | null
}
