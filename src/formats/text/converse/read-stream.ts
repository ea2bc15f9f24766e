import type { Finish, PartHead, Piece } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { streamHeldBytesMax, streamToolCallsMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { PartSequence } from '../part-sequence.ts'
import type { StreamReader } from '../halves.ts'
import { createBinaryReader } from '../streams/binary-reader.ts'
import type { Emit, StreamHandler } from '../streams/stream-reader.ts'
import { readStop } from './read-answer.ts'
import { callHeadOf, readBlock, readCitation, thoughtHead } from './read-blocks.ts'
import { readConverseUsage } from './usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** Reads Bedrock's stream of binary events; each comes as an object with one member, named as the event. */
export function createConverseReader(context: AnswerContext): StreamReader {
  return createBinaryReader((emit) => new ConverseHandler(emit), context)
}

/** Reads the format's events. The end of the answer comes before its usage, so that the body's end ends it. */
class ConverseHandler implements StreamHandler {
  isTerminated = false
  readonly #emit: Emit
  readonly #parts: PartSequence
  /** The heads of open blocks, by their index. */
  readonly #blocks = new Map<number, PartHead>()
  /** The pictures that are not whole yet, by the index of their blocks. */
  readonly #pictures = new Map<number, { image: Wire; pieces: Buffer[] }>()
  #pictureBytes = 0
  #blockCount = 0
  #hasBegun = false
  #sawToolCalls = false
  #finish: Finish | null = null

  constructor(emit: Emit) {
    this.#emit = emit
    this.#parts = new PartSequence(0, emit)
  }

  get isWhole(): boolean {
    return this.#finish !== null
  }

  /** Events that are not in the table are no part of the answer. */
  read(wire: Wire): void {
    const handlers: Readonly<Record<string, (event: Wire) => void>> = this.#handlers
    for (const [type, event] of Object.entries(wire))
      if (Object.hasOwn(handlers, type) && isRecord(event)) handlers[type]?.(event)
  }

  /** Nothing can be made up: without a reason the answer was cut off. */
  end(): void {}

  readonly #handlers = {
    messageStart: () => this.#begin(),
    contentBlockStart: (event: Wire) => {
      const start = isRecord(event['start']) ? event['start'] : {}
      if (isRecord(start['toolUse'])) this.#open(indexOf(event), callHeadOf(start['toolUse']))
      if (isRecord(start['image'])) this.#pictures.set(indexOf(event), { image: start['image'], pieces: [] })
    },
    contentBlockDelta: (event: Wire) => this.#readDelta(event),
    contentBlockStop: (event: Wire) => {
      const index = indexOf(event)
      this.#endPicture(index)
      this.#blocks.delete(index)
      this.#parts.end(String(index))
    },
    messageStop: (event: Wire) => this.#readEnd(event),
    metadata: (event: Wire) => {
      const usage = readConverseUsage(event)
      if (usage !== null) this.#emit({ type: 'usage', usage })
      this.isTerminated = this.isWhole
    },
  }

  #begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#emit({ type: 'begin', upstreamId: null, upstreamModel: null })
  }

  #open(index: number, head: PartHead): PartHead {
    this.#begin()
    if (head.type === 'tool_call') this.#sawToolCalls = true
    if (this.#blockCount >= streamToolCallsMax) throw new RangeError('too many blocks')
    this.#blockCount += 1
    this.#blocks.set(index, head)
    this.#parts.add(String(index), head, null)
    return head
  }

  /** Only calls have a beginning of their own; other blocks begin with their first piece. */
  #readDelta(event: Wire): void {
    const { delta } = event
    if (!isRecord(delta)) return
    const index = indexOf(event)
    const key = String(index)
    const { image } = delta
    if (isRecord(image)) return this.#addToPicture(index, image)
    const citation = delta['citation']
    if (isRecord(citation)) return this.#parts.annotate(key, readCitation(citation))
    for (const { head, piece } of piecesOf(delta)) {
      const open = this.#blocks.get(index) ?? (head === null ? null : this.#open(index, head))
      if (open === null) throw new Error('arguments came for a tool call that is not open')
      if (piece !== null) this.#parts.add(key, open, piece)
    }
  }

  #addToPicture(index: number, { source }: Wire): void {
    const base64 = isRecord(source) ? filledTextOrNull(source['bytes']) : null
    if (base64 === null) return
    const piece = Buffer.from(base64, 'base64')
    this.#pictureBytes += piece.length
    if (this.#pictureBytes > streamHeldBytesMax) throw new RangeError('too large pictures')
    this.#pictures.get(index)?.pieces.push(piece)
  }

  #endPicture(index: number): void {
    const picture = this.#pictures.get(index)
    this.#pictures.delete(index)
    if (picture === undefined) return
    const bytes = Buffer.concat(picture.pieces).toString('base64')
    const { head } = readBlock({ image: { ...picture.image, source: { bytes } } })
    if (head.type === 'image') this.#open(index, head)
  }

  #readEnd(event: Wire): void {
    this.#begin()
    if (this.#finish !== null) return
    this.#finish = readStop(event, this.#sawToolCalls)
    if (this.#finish === null) return
    this.#parts.close()
    this.#emit({ type: 'finish', choice: 0, ...this.#finish })
  }
}

function indexOf(event: Wire): number {
  return tokenCountOrNull(event['contentBlockIndex']) ?? 0
}

/** The pieces of a delta, each with the head of the block that it may begin; null for calls, which begin by themselves. */
function* piecesOf(delta: Wire): Generator<{ head: PartHead | null; piece: Piece | null }> {
  const { text, toolUse, reasoningContent: thought } = delta
  if (typeof text === 'string')
    yield { head: { type: 'text' }, piece: text === '' ? null : { type: 'text', text } }
  if (isRecord(toolUse)) {
    const piece = filledTextOrNull(toolUse['input'])
    yield { head: null, piece: piece === null ? null : { type: 'arguments', text: piece } }
  }
  if (!isRecord(thought)) return
  const words = filledTextOrNull(thought['text'])
  const signature = filledTextOrNull(thought['signature'])
  const sealed = filledTextOrNull(thought['redactedContent'])
  if (words !== null) yield { head: thoughtHead, piece: { type: 'text', text: words } }
  if (signature !== null) yield { head: thoughtHead, piece: { type: 'signature', signature } }
  if (sealed !== null) yield { head: thoughtHead, piece: { type: 'sealed', data: sealed } }
}
