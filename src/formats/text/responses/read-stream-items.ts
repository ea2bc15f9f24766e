import type { PartHead } from '../../../canonical/text/events.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { readLogprob } from '../logprobs.ts'
import type { PartLane } from './part-lanes.ts'
import { callHeadOf, readAnnotation, textsOf, wholeHeadOf } from './read-items.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * Reads one open item of an answer. A missing method means that such events do not matter for this type of item. At the
 * end, the whole item supplies what its pieces left out.
 */
export interface ItemReader {
  text?(event: Wire, kind: 'text' | 'refusal'): void
  annotate?(event: Wire): void
  partDone?(event: Wire): void
  think?(event: Wire): void
  summarize?(event: Wire): void
  addArguments?(event: Wire): void
  /** The whole item, at its end. */
  finish(item: Wire): void
}

/** Which pieces of a message's part are emitted already. */
interface ToldPart {
  kind: 'text' | 'refusal' | null
  hasText: boolean
  hasLogprobs: boolean
  annotations: number
  isDone: boolean
}

/** Reads a message: texts and refusals. */
export class MessageReader implements ItemReader {
  readonly #lane: PartLane
  readonly #parts = new Map<number, ToldPart>()
  #current: ToldPart | null = null

  constructor(lane: PartLane) {
    this.#lane = lane
  }

  text(event: Wire, kind: 'text' | 'refusal'): void {
    const part = this.#partAt(event)
    this.#say(part, kind, filledTextOrNull(event['delta']) ?? '')
    this.#tellLogprobs(part, event['logprobs'])
  }

  annotate(event: Wire): void {
    const { annotation } = event
    const part = this.#partAt(event)
    if (!isRecord(annotation) || part.isDone) return
    this.#begin(part, 'text')
    part.annotations += 1
    this.#lane.piece({ type: 'annotation', annotation: readAnnotation(annotation) })
  }

  partDone(event: Wire): void {
    const { part } = event
    if (isRecord(part)) this.#complete(this.#partAt(event), part)
  }

  finish(item: Wire): void {
    const { content } = item
    const parts = Array.isArray(content) ? content.filter(isRecord) : []
    for (const [index, part] of parts.entries()) this.#complete(this.#partAt({ content_index: index }), part)
    this.#lane.finish()
  }

  #partAt(event: Wire): ToldPart {
    const index = tokenCountOrNull(event['content_index']) ?? 0
    let part = this.#parts.get(index)
    if (part === undefined) {
      part = { kind: null, hasText: false, hasLogprobs: false, annotations: 0, isDone: false }
      this.#parts.set(index, part)
    }
    return part
  }

  #begin(part: ToldPart, kind: 'text' | 'refusal'): void {
    if (this.#current === part && part.kind === kind) return
    this.#current = part
    part.kind = kind
    this.#lane.begin({ type: kind })
  }

  #say(part: ToldPart, kind: 'text' | 'refusal', text: string): void {
    if (text === '' || part.isDone) return
    this.#begin(part, kind)
    part.hasText = true
    this.#lane.piece({ type: 'text', text })
  }

  #tellLogprobs(part: ToldPart, logprobs: unknown): void {
    if (!Array.isArray(logprobs) || logprobs.length === 0 || part.isDone) return
    this.#begin(part, 'text')
    part.hasLogprobs = true
    this.#lane.piece({ type: 'logprobs', tokens: logprobs.filter(isRecord).map(readLogprob) })
  }

  /** Emits what the whole part has beyond its pieces. */
  #complete(part: ToldPart, whole: Wire): void {
    if (part.isDone) return
    const { refusal, annotations } = whole
    const kind = typeof refusal === 'string' ? 'refusal' : 'text'
    const text = kind === 'refusal' ? refusal : whole['text']
    if (!part.hasText) {
      this.#begin(part, kind)
      this.#say(part, kind, filledTextOrNull(text) ?? '')
    }
    if (!part.hasLogprobs) this.#tellLogprobs(part, whole['logprobs'])
    const given = Array.isArray(annotations) ? annotations.filter(isRecord).slice(part.annotations) : []
    if (given.length > 0) this.#begin(part, 'text')
    for (const each of given) this.#lane.piece({ type: 'annotation', annotation: readAnnotation(each) })
    part.isDone = true
    if (this.#current !== part) return
    this.#current = null
    this.#lane.close()
  }
}

/** Reads a thought. Its seal comes only at the end. */
export class ThoughtReader implements ItemReader {
  readonly #lane: PartLane
  readonly #summaries = new Set<number>()
  #hasText = false

  constructor(lane: PartLane, item: Wire) {
    this.#lane = lane
    lane.begin({ type: 'reasoning', id: filledTextOrNull(item['id']), origin: 'responses' })
  }

  think(event: Wire): void {
    this.#text(filledTextOrNull(event['delta']) ?? '')
  }

  summarize(event: Wire): void {
    this.#summary(tokenCountOrNull(event['summary_index']) ?? 0, filledTextOrNull(event['delta']) ?? '')
  }

  finish(item: Wire): void {
    for (const [index, text] of textsOf(item['summary']).entries())
      if (!this.#summaries.has(index)) this.#summary(index, text)
    if (!this.#hasText) for (const text of textsOf(item['content'])) this.#text(text)
    const data = filledTextOrNull(item['encrypted_content'])
    if (data !== null && data !== '') this.#lane.piece({ type: 'sealed', data })
    this.#lane.finish()
  }

  #text(text: string): void {
    if (text === '') return
    this.#hasText = true
    this.#lane.piece({ type: 'text', text })
  }

  #summary(index: number, text: string): void {
    if (text === '' || index > paragraphsMax) return
    this.#summaries.add(index)
    this.#lane.piece({ type: 'summary', text, index })
  }
}

/** The most paragraphs of one summary: the list gets as long as the highest index. */
const paragraphsMax = 1_000

/** Reads a call of the caller's tool. */
export class CallReader implements ItemReader {
  readonly #lane: PartLane
  readonly #member: 'arguments' | 'input'
  #hasArguments = false

  constructor(lane: PartLane, head: PartHead) {
    this.#lane = lane
    this.#member = head.type === 'tool_call' && head.kind === 'custom' ? 'input' : 'arguments'
    lane.begin(head)
  }

  addArguments(event: Wire): void {
    this.#add(filledTextOrNull(event['delta']) ?? '')
  }

  finish(item: Wire): void {
    if (!this.#hasArguments) this.#add(filledTextOrNull(item[this.#member]) ?? '')
    this.#lane.finish()
  }

  #add(text: string): void {
    if (text === '') return
    this.#hasArguments = true
    this.#lane.piece({ type: 'arguments', text })
  }
}

/**
 * Reads an item that is emitted only when complete: an action of the provider itself, or a call that did not name its
 * tool.
 */
export class WholeReader implements ItemReader {
  readonly #lane: PartLane
  readonly #callId: string | null

  /** `callId` is for a call without an id; null when the item cannot be a call of the caller's tool. */
  constructor(lane: PartLane, callId: string | null) {
    this.#lane = lane
    this.#callId = callId
  }

  finish(item: Wire): void {
    const head = this.#callId === null ? null : callHeadOf(item, this.#callId)
    if (head !== null) {
      new CallReader(this.#lane, head).finish(item)
      return
    }
    this.#lane.begin(wholeHeadOf(item))
    this.#lane.finish()
  }
}
