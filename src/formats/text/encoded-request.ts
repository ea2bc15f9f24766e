import type { BodyPieces } from '../../core/body.ts'
import type { PromisedOutput } from '../../canonical/upstream.ts'

/** A body for an upstream, and the names of what it could not carry. */
export interface EncodedRequest {
  body: BodyPieces
  /** Headers that this request needs besides those of every request. */
  headers?: Readonly<Record<string, string>>
  dropped: readonly string[]
  /** Names of what it carries in another way. */
  approximated?: readonly string[]
  /** What the answer is to be checked against. */
  promised?: PromisedOutput
}
