import { joinPieces } from '../../core/body.ts'
import { fieldError } from '../../core/errors.ts'
import type { Seal } from '../../delivery/master-key.ts'
import type {
  Compaction,
  CompactionFormat,
  SealedPart,
  SealPart,
} from '../../formats/text/compaction-format.ts'
import type { LeanJson } from '../../json/document.ts'
import type { Outcome } from '../call/scope.ts'

/** A body with its compacted parts opened, and what becomes of the answer when it is a compaction itself. */
export interface CompactedCall {
  body: Uint8Array
  /** Null when the answer goes to the caller as it is. */
  show: ((outcome: Outcome) => Promise<Outcome>) | null
}

/**
 * Makes compactions of conversations and opens them again. A compaction is a summary by the caller's own model, sealed with
 * the gateway's key for the caller's organization, so that it means the same for every model and nothing elsewhere.
 */
export class Compactor {
  readonly #seal: Seal

  constructor(seal: Seal) {
    this.#seal = seal
  }

  /** Null for a body that has nothing to do with compaction. Rejects with `invalid_request`. */
  async prepare(
    format: CompactionFormat,
    body: Uint8Array,
    { organizationId, lean, isAsked }: { organizationId: string; lean: LeanJson | null; isAsked: boolean },
  ): Promise<CompactedCall | null> {
    if (!isAsked && !format.mayConcern(body)) return null
    const request = format.read(body, lean, isAsked)
    if (request === null) return null
    const purpose = `compaction of ${organizationId}`
    const opened: string[] = []
    for (const part of request.sealed) opened.push(await this.#open(part, purpose))
    const compaction = request.compact(opened)
    if (compaction === null) return { body: request.bodyWith(opened), show: null }
    // Before the model is paid for a summary that could not be sealed.
    const refusal = this.#seal.refusal()
    if (refusal !== null) throw refusal
    const seal: SealPart = (text) => this.#seal.seal(text, purpose)
    return { body: request.bodyWith(opened), show: (outcome) => showCompaction(outcome, compaction, seal) }
  }

  async #open({ text, param }: SealedPart, purpose: string): Promise<string> {
    try {
      return await this.#seal.open(text.slice(text.indexOf('.') + 1), purpose)
    } catch {
      throw fieldError(
        param,
        'was not sealed here for this organization, or was changed. Send the conversation that it stood for.',
      )
    }
  }
}

async function showCompaction(outcome: Outcome, compaction: Compaction, seal: SealPart): Promise<Outcome> {
  const { body, contentType } = outcome
  if (body instanceof ReadableStream) return { ...outcome, body: compactedStream(body, compaction, seal) }
  const bytes = joinPieces(body)
  if (contentType !== 'text/event-stream')
    return { ...outcome, body: [await compaction.writeAnswer(bytes, seal)] }
  const events = compaction.createStream(seal)
  return { ...outcome, body: [await events.push(bytes), await events.end()] }
}

function compactedStream(
  body: ReadableStream<Uint8Array>,
  compaction: Compaction,
  seal: SealPart,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const events = compaction.createStream(seal)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (let shown = 0; shown === 0;) {
          const { done, value } = await reader.read()
          const told = await (done ? events.end() : events.push(value)).catch(async (error: unknown) => {
            await reader.cancel(error)
            throw error
          })
          shown = told.length
          if (shown > 0) controller.enqueue(told)
          if (done) return controller.close()
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
