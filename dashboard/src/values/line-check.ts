/** The checks of a batch's lines before anything is sent. The gateway makes them again; these name the line at once. */
import type { Schemas } from '../api/openapi.gen.ts'

export type BatchEndpoint = Schemas['CreateBatch']['endpoint']

export interface LineFault {
  /** From 1. */
  line: number
  message: string
}

export interface LineReport {
  lines: number
  items: number
  bytes: number
  faults: readonly LineFault[]
  faultCount: number
  /** What the lines name: null where none does, or where they differ. */
  endpoint: BatchEndpoint | null
  model: string | null
}

const faultsKept = 100
const customIdCharactersMax = 64
const endpoints: ReadonlySet<string> = new Set([
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
])

/** Checks lines in their order and remembers of each no more than the hash of its id. */
export class LineChecker {
  readonly #ids = new HashSet()
  readonly #faults: LineFault[] = []
  #faultCount = 0
  #lines = 0
  #items = 0
  #endpoint: BatchEndpoint | null = null
  #model: string | null = null

  /** The item of a line that can be sent, as JSON; null for an empty line and for one with a fault, which is noted. */
  check(line: string): string | null {
    this.#lines += 1
    const text = line.trim()
    if (text === '') return null
    const message = this.#faultOf(text)
    if (message === null) {
      this.#items += 1
      return text
    }
    this.#faultCount += 1
    if (this.#faults.length < faultsKept) this.#faults.push({ line: this.#lines, message })
    return null
  }

  report(bytes: number): LineReport {
    return {
      lines: this.#lines,
      items: this.#items,
      bytes,
      faults: this.#faults,
      faultCount: this.#faultCount,
      endpoint: this.#endpoint,
      model: this.#model,
    }
  }

  #faultOf(text: string): string | null {
    let item: unknown
    try {
      item = JSON.parse(text)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // Some browsers count lines of the text that they were given, which is one line of many.
      return `not JSON: ${message.replace(/ \(line \d+ column \d+\)$/, '')}`
    }
    if (!isRecord(item)) return 'an item is an object with custom_id and body'
    const { custom_id: id, body, url } = item
    if (typeof id !== 'string' || id === '') return 'custom_id is missing'
    if (id.length > customIdCharactersMax)
      return `custom_id has more than ${customIdCharactersMax} characters`
    if (!isRecord(body)) return 'body is missing'
    if (body['stream'] === true) return 'body.stream must not be true: results are not streamed'
    const fault = this.#differs(body, url)
    if (fault !== null) return fault
    if (!this.#ids.add(id)) return `custom_id ${JSON.stringify(id)} was used before`
    return null
  }

  /** What a line says otherwise than those before it. */
  #differs(body: Readonly<Record<string, unknown>>, url: unknown): string | null {
    const { model } = body
    if (typeof model === 'string') {
      this.#model ??= model
      if (model !== this.#model) return `model is ${model}, but ${this.#model} before: a batch has one model`
    }
    const endpoint = typeof url === 'string' ? url : guessEndpoint(body)
    if (endpoint === null) return null
    if (!isEndpoint(endpoint)) return `url is ${endpoint}; it must be one of ${[...endpoints].join(', ')}`
    this.#endpoint ??= endpoint
    if (endpoint !== this.#endpoint)
      return `it is for ${endpoint}, but ${this.#endpoint} before: a batch has one endpoint`
    return null
  }
}

function guessEndpoint(body: Readonly<Record<string, unknown>>): BatchEndpoint | null {
  if (Array.isArray(body['messages'])) return '/v1/chat/completions'
  return null
}

function isEndpoint(value: string): value is BatchEndpoint {
  return endpoints.has(value)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const firstSlots = 1 << 12

/** A set of texts by 52 bits of their hash: 16 bytes for each, where a `Set` of the texts takes a hundred. */
class HashSet {
  #slots = new Float64Array(firstSlots)
  #size = 0

  /** False when the text was in it. */
  add(text: string): boolean {
    if (this.#size * 2 >= this.#slots.length) this.#grow()
    const isNew = place(this.#slots, hash(text))
    if (isNew) this.#size += 1
    return isNew
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Float64Array(before.length * 2)
    for (const value of before) if (value !== 0) place(this.#slots, value)
  }
}

function place(slots: Float64Array, value: number): boolean {
  const mask = slots.length - 1
  let index = value % slots.length
  for (;;) {
    const found = slots[index]
    if (found === 0) {
      slots[index] = value
      return true
    }
    if (found === value) return false
    index = (index + 1) & mask
  }
}

/** Two FNV-1a hashes with different beginnings, joined to a whole number from 1 to 2^52. */
function hash(text: string): number {
  let low = 0x811c9dc5
  let high = 0x01000193
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ code, 0x85ebca6b)
    high ^= high >>> 13
  }
  return (low >>> 0) + (high & 0xfffff) * 0x1_0000_0000 + 1
}
