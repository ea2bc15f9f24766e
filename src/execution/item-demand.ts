import type { Demand } from '../canonical/usage.ts'
import { GatewayError } from '../core/errors.ts'
import { demandFrameBytesMax, demandFramesMax, memberParseBytesMax } from '../core/limits.ts'
import { arePlainMessages } from '../formats/chat/plain-messages.ts'
import { estimateTokens } from '../formats/text-estimate.ts'
import { decodeItem } from './batch-item.ts'
import type { BatchEndpoint } from './operations.ts'

/** The member of a body that differs from item to item, and how to do without building it. */
interface Bulk {
  member: BulkMember
  /** Whether such a value, known to be valid JSON, is surely accepted and demands what `estimateTokens` says. */
  isPlain(value: Buffer): boolean
  /** The shortest plain value. */
  sample: Buffer
}

/** Members that make most of an item's bytes. */
type BulkMember = 'messages' | 'input'

/** Those of an item's body. */
export type FoundBulks = Readonly<Partial<Record<BulkMember, Buffer>>>

const bulks = {
  '/v1/chat/completions': {
    member: 'messages',
    isPlain: arePlainMessages,
    sample: Buffer.from('[{"role":"user"}]'),
  },
  '/v1/embeddings': {
    member: 'input',
    isPlain: (value) => value[0] === 0x22 && value.length > 2,
    sample: Buffer.from('"x"'),
  },
} satisfies Record<BatchEndpoint, Bulk>

/** A model of any name: of what an item demands, nothing depends on it. */
const someModel = 'model'

/**
 * What the items of an endpoint demand, as decoding them would say. Items usually differ in one member only, so the rest
 * of a body, its frame, is decoded when it is seen for the first time.
 */
export class ItemDemands {
  readonly #endpoint: string
  /** Null for an endpoint that batches do not run. */
  readonly #bulk: Bulk | null
  readonly #frames = new Map<string, Demand | null>()

  /** The endpoint as a batch names it; nothing can be decoded for one that batches do not run. */
  constructor(endpoint: string) {
    this.#endpoint = endpoint
    this.#bulk = Object.hasOwn(bulks, endpoint) ? bulks[endpoint as BatchEndpoint] : null
  }

  /**
   * What one item demands; null when it cannot be decoded. `body` is a JSON object and `found` its members of these
   * names, which lie in it; null when they are not known.
   */
  of(body: Buffer, found: FoundBulks | null): Demand | null {
    const bulk = this.#bulk
    if (bulk === null) return null
    const value = found?.[bulk.member]
    // Most of the items of a batch whose endpoint is not known yet are none of this endpoint's.
    if (found !== null && value === undefined) return null
    const isPlain = value !== undefined && value.length <= memberParseBytesMax && bulk.isPlain(value)
    if (!isPlain) return this.#decode(body)
    const frame = this.#frame(body, value, bulk.sample)
    return frame && { ...frame, inputTokens: frame.inputTokens + estimateTokens(value) }
  }

  /** What the body demands besides this value. */
  #frame(body: Buffer, value: Buffer, sample: Buffer): Demand | null {
    const start = value.byteOffset - body.byteOffset
    const end = start + value.length
    const decode = (): Demand | null => {
      const pieces = [body.subarray(0, start), sample, body.subarray(end)]
      const demand = this.#decode(Buffer.concat(pieces))
      return demand && { ...demand, inputTokens: demand.inputTokens - estimateTokens(sample) }
    }
    if (body.length - value.length > demandFrameBytesMax) return decode()
    // No byte of JSON is zero, so that the two halves cannot be mistaken for two others.
    const key = `${body.toString('latin1', 0, start)}\0${body.toString('latin1', end)}`
    const known = this.#frames.get(key)
    if (known !== undefined) return known
    const frame = decode()
    if (this.#frames.size === demandFramesMax) this.#frames.clear()
    this.#frames.set(key, frame)
    return frame
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
