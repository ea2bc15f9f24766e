import type { Demand } from '../../canonical/usage.ts'
import { GatewayError } from '../../core/errors.ts'
import { memberParseBytesMax } from '../../core/limits/text.ts'
import { estimateTokens } from '../../formats/text/text-estimate.ts'
import { decodeItem } from './batch-item.ts'
import type { Bulk } from '../../formats/text/text-operation-row.ts'
import { operationOfBatchEndpoint } from '../operations.ts'

/**
 * How many frames (an item's body without its bulk member) are remembered with their demand, and the bytes of one at
 * most.
 */
export const demandFramesMax = 32
export const demandFrameBytesMax = 8_192

/** A stretch of bytes: the offsets of its first byte and of the byte after its last. */
interface Stretch {
  readonly start: number
  readonly end: number
}

/** Where the bulk members lie that a body has. */
export type FoundBulks = Readonly<Partial<Record<Bulk['member'], Stretch>>>

/** The bytes around the bulk member, and what all bodies with these bytes demand besides their bulk. */
interface Frame {
  before: Buffer
  after: Buffer
  demand: Demand | null
}

/** Up to about this many bytes, a loop compares faster than a call of the runtime does. */
const comparedBytesMax = 64

/** Any model, because an item's demand does not depend on its name. */
const someModel = 'model'

/**
 * What the items of an endpoint demand, as decoding each of them would say. Items usually differ in one member only, so
 * the rest of a body, its frame, is decoded when it is seen for the first time.
 */
export class ItemDemands {
  readonly #endpoint: string
  /** Null for an endpoint that batches do not run. */
  readonly #bulk: Bulk | null
  /** The oldest first; few, because most batches have one. */
  readonly #frames: Frame[] = []
  #lastFrame: Frame | null = null

  /** The endpoint as a batch names it; for one that batches do not run, `of` always returns null. */
  constructor(endpoint: string) {
    this.#endpoint = endpoint
    this.#bulk = operationOfBatchEndpoint(endpoint)?.text?.bulk ?? null
  }

  /**
   * What one item demands; null when it cannot be decoded. `body` says where in the item's bytes its body lies, which
   * is a JSON object, and `found` where the bulk members lie; null when that is not known.
   */
  of(item: Buffer, body: Stretch, found: FoundBulks | null): Demand | null {
    this.#lastFrame = null
    const bulk = this.#bulk
    if (bulk === null) return null
    const place = found?.[bulk.member]
    // While the endpoint of a batch is not known, most of its items are not for this endpoint.
    if (found !== null && place === undefined) return null
    if (place === undefined || place.end - place.start > memberParseBytesMax)
      return this.#decode(item.subarray(body.start, body.end))
    const value = item.subarray(place.start, place.end)
    if (!bulk.isPlain(value)) return this.#decode(item.subarray(body.start, body.end))
    const frame = this.#frame(item, body, place)
    this.#lastFrame = frame
    const { demand } = frame
    return demand && withBytes(demand, { tokens: estimateTokens(value), bytes: value.length })
  }

  /** The same object for all items that differ from the one last asked about in their bulk member alone; null where that is not known. */
  get lastFrame(): object | null {
    return this.#lastFrame
  }

  #frame(item: Buffer, body: Stretch, place: Stretch): Frame {
    for (const known of this.#frames) {
      const isSame =
        standsBetween(item, body.start, place.start, known.before) &&
        standsBetween(item, place.end, body.end, known.after)
      if (isSame) return known
    }
    const frame = this.#newFrame(item.subarray(body.start, place.start), item.subarray(place.end, body.end))
    const bytes = frame.before.length + frame.after.length
    if (bytes > demandFrameBytesMax) return frame
    if (this.#frames.length === demandFramesMax) this.#frames.shift()
    this.#frames.push(frame)
    return frame
  }

  /** Copies the bytes, because a view would keep the whole item in memory. */
  #newFrame(before: Uint8Array, after: Uint8Array): Frame {
    const sample = this.#bulk?.sample ?? Buffer.alloc(0)
    const demand = this.#decode(Buffer.concat([before, sample, after]))
    return {
      before: Buffer.from(before),
      after: Buffer.from(after),
      demand: demand && withBytes(demand, { tokens: -estimateTokens(sample), bytes: -sample.length }),
    }
  }

  #decode(body: Buffer): Demand | null {
    try {
      return decodeItem(this.#endpoint, someModel, body).demand
    } catch (error) {
      if (error instanceof GatewayError) return null
      throw error
    }
  }
}

function withBytes(demand: Demand, added: { tokens: number; bytes: number }): Demand {
  const { inputTokens, inputBytes = 0 } = demand
  return { ...demand, inputTokens: inputTokens + added.tokens, inputBytes: inputBytes + added.bytes }
}

/** Whether exactly these bytes stand between two offsets. */
function standsBetween(item: Buffer, start: number, end: number, bytes: Buffer): boolean {
  if (end - start !== bytes.length) return false
  if (bytes.length > comparedBytesMax) return item.compare(bytes, 0, bytes.length, start, end) === 0
  for (let at = 0; at < bytes.length; at++) if (item[start + at] !== bytes[at]) return false
  return true
}
