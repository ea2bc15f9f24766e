import type { Annotation, ConversationFormat } from '../../canonical/text/conversation.ts'
import type { PartHead, Piece, TextEvent, TokenLogprob } from '../../canonical/text/events.ts'
import { streamHeldBytesMax, streamHeldFramesMax } from '../../core/limits/text.ts'
import { readMediaUrl } from '../media-source.ts'
import { unreadable } from '../upstream-json.ts'
import { stringOrNull } from './chat-answer.ts'
import { toFinishReason } from './chat-choice.ts'
import { isRecord } from './chat-media.ts'
import { originOf } from './chat-reasoning.ts'
import { readCount } from './chat-usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** The part under way; `key` tells whether the next piece belongs to it. */
interface OpenPart {
  key: string
  part: number
  /** Arguments so far, of a tool call. */
  written: string
}

/** A part whose pieces came before the call in front of it was whole. */
interface KeptPart {
  head: PartHead
  pieces: Piece[]
}

/**
 * One choice of a chat answer as events, delta by delta; a whole message is one delta. The deltas were brought into the
 * contract's form before. Parts follow each other: what the provider says between the pieces of a call is kept back until
 * that call is whole.
 */
export class ChatChoiceReader {
  isFinished = false
  readonly #choice: number
  readonly #emit: (event: TextEvent) => void
  #open: OpenPart | null = null
  #parts = 0
  #images = 0
  readonly #kept = new Map<string, KeptPart>()
  #keptPieces = 0
  #keptLength = 0
  /** Calls that were whole when something else followed. */
  readonly #told = new Set<string>()
  #sawToolCalls = false

  constructor(choice: number, emit: (event: TextEvent) => void) {
    this.#choice = choice
    this.#emit = emit
  }

  read(delta: Wire, logprobs: unknown): void {
    this.#readThoughts(delta)
    const { content, refusal, images, annotations, tool_calls: calls } = delta
    if (typeof content === 'string' && content !== '') this.#add('text', { type: 'text' }, textPiece(content))
    if (isRecord(logprobs)) this.#readLogprobs(logprobs['content'])
    if (typeof refusal === 'string' && refusal !== '')
      this.#add('refusal', { type: 'refusal' }, textPiece(refusal))
    if (Array.isArray(annotations)) for (const each of annotations.filter(isRecord)) this.#annotate(each)
    if (Array.isArray(images)) for (const each of images.filter(isRecord)) this.#readImage(each)
    if (Array.isArray(calls)) for (const each of calls.filter(isRecord)) this.#readCall(each)
  }

  /**
   * Closes what is open. `native` null is a provider that does not say why it ended; `shown` is the word of the model
   * itself, where that is another.
   */
  finish(native: string | null, shown: string | null): void {
    if (this.isFinished) return
    this.isFinished = true
    this.#close()
    for (const key of this.#kept.keys()) {
      this.#release(key)
      this.#close()
    }
    this.#emit({
      type: 'finish',
      choice: this.#choice,
      reason: toFinishReason(native ?? 'stop', this.#sawToolCalls),
      native: shown,
      stopSequence: null,
      refusal: null,
    })
  }

  #readThoughts(delta: Wire): void {
    const details = delta['reasoning_details']
    if (Array.isArray(details) && details.length > 0) {
      for (const detail of details.filter(isRecord)) this.#readDetail(detail)
      return
    }
    const text = delta['reasoning']
    if (typeof text === 'string' && text !== '') this.#add('thought', thought(null, 'chat'), textPiece(text))
  }

  #readDetail(detail: Wire): void {
    const { type, index, format, id, text, signature, summary, data } = detail
    const head = thought(stringOrNull(id), originOf(format))
    const key = `thought ${String(index ?? id ?? '')} ${String(format ?? '')}`
    if (type === 'reasoning.text') {
      if (typeof text === 'string' && text !== '') this.#add(key, head, textPiece(text))
      if (typeof signature === 'string') this.#add(key, head, { type: 'signature', signature })
    } else if (type === 'reasoning.summary' && typeof summary === 'string') {
      this.#add(key, head, { type: 'summary', text: summary, index: 0 })
    } else if (type === 'reasoning.encrypted' && typeof data === 'string') {
      this.#add(key, head, { type: 'sealed', data })
    }
  }

  #readLogprobs(content: unknown): void {
    if (!Array.isArray(content) || content.length === 0) return
    this.#add(
      'text',
      { type: 'text' },
      { type: 'logprobs', tokens: content.filter(isRecord).map(readLogprob) },
    )
  }

  #annotate(wire: Wire): void {
    const annotation = readAnnotation(wire)
    if (annotation !== null) this.#add('text', { type: 'text' }, { type: 'annotation', annotation })
  }

  #readImage(wire: Wire): void {
    const { image_url: image } = wire
    const source = readMediaUrl((isRecord(image) ? stringOrNull(image['url']) : null) ?? '', 'image/png')
    if (source.kind !== 'data') return
    const head: PartHead = { type: 'image', mediaType: source.mediaType, base64: source.base64 }
    this.#images += 1
    const key = `image ${this.#images}`
    if (this.#mustWait()) {
      this.#keep(key, head, null)
      return
    }
    this.#begin(key, head)
    this.#close()
  }

  #readCall(wire: Wire): void {
    this.#sawToolCalls = true
    const key = `call ${readCount(wire['index']) ?? 0}`
    const called = calledOf(wire)
    const text = stringOrNull(called['arguments']) ?? stringOrNull(called['input']) ?? ''
    const head: PartHead = {
      type: 'tool_call',
      id: stringOrNull(wire['id']) ?? '',
      name: stringOrNull(called['name']) ?? '',
      kind: isRecord(wire['custom']) ? 'custom' : 'function',
    }
    if (this.#open?.key === key) this.#write(text)
    else if (this.#told.has(key)) requireBlank(text)
    else if (this.#mustWait()) this.#keep(key, head, { type: 'arguments', text })
    else {
      this.#begin(key, head)
      this.#write(text)
    }
    if (this.#kept.size > 0) this.#releaseWhole()
  }

  /** Whether a call is open that is not whole: what belongs to another part must wait for it. */
  #isAmidCall(): boolean {
    return this.#open?.key.startsWith('call ') === true && !isWhole(this.#open.written)
  }

  /** Nothing waits but amid a call, so what waits is the cheaper thing to look at. */
  #mustWait(): boolean {
    return this.#kept.size > 0 || this.#isAmidCall()
  }

  #keep(key: string, head: PartHead, piece: Piece | null): void {
    let kept = this.#kept.get(key)
    if (kept === undefined) {
      kept = { head, pieces: [] }
      this.#kept.set(key, kept)
      this.#keptPieces += 1
      if (head.type === 'image') this.#keptLength += head.base64.length
    }
    if (piece !== null) this.#keepPiece(kept.pieces, piece)
    if (this.#keptPieces > streamHeldFramesMax || this.#keptLength > streamHeldBytesMax)
      throw unreadable('too much came amid a tool call')
  }

  /** Texts that follow each other are one, so that memory is bounded by their length. */
  #keepPiece(pieces: Piece[], piece: Piece): void {
    const last = pieces.at(-1)
    if ('text' in piece) this.#keptLength += piece.text.length
    if (last !== undefined && 'text' in last && 'text' in piece && last.type === piece.type) {
      pieces[pieces.length - 1] = { ...last, text: last.text + piece.text }
      return
    }
    this.#keptPieces += 1
    pieces.push(piece)
  }

  /** The call in front is whole: what waited for it may be told. */
  #releaseWhole(): void {
    while (!this.#isAmidCall()) {
      const [key] = this.#kept.keys()
      if (key === undefined) return
      this.#release(key)
    }
  }

  #release(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    this.#begin(key, kept.head)
    for (const piece of kept.pieces) {
      if (piece.type === 'arguments') this.#write(piece.text)
      else this.#piece(piece)
    }
  }

  #write(text: string): void {
    if (this.#open === null || text === '') return
    this.#open.written += text
    this.#piece({ type: 'arguments', text })
  }

  #add(key: string, head: PartHead, piece: Piece): void {
    if (this.#open?.key === key) this.#piece(piece)
    else if (this.#mustWait()) this.#keep(key, head, piece)
    else {
      this.#begin(key, head)
      this.#piece(piece)
    }
  }

  #begin(key: string, head: PartHead): void {
    this.#close()
    this.#open = { key, part: this.#parts, written: '' }
    this.#parts += 1
    this.#emit({ type: 'part_begin', choice: this.#choice, part: this.#open.part, head })
  }

  #close(): void {
    if (this.#open === null) return
    if (this.#open.key.startsWith('call ')) this.#told.add(this.#open.key)
    this.#emit({ type: 'part_end', choice: this.#choice, part: this.#open.part })
    this.#open = null
  }

  #piece(piece: Piece): void {
    if (this.#open) this.#emit({ type: 'piece', choice: this.#choice, part: this.#open.part, piece })
  }
}

/** What was called, and with what. */
function calledOf({ custom, function: called }: Wire): Wire {
  if (isRecord(custom)) return custom
  return isRecord(called) ? called : {}
}

function textPiece(text: string): Piece {
  return { type: 'text', text }
}

function thought(id: string | null, origin: ConversationFormat | null): PartHead {
  return { type: 'reasoning', id, origin }
}

/** Some hosts send a last piece without a word; a call that was told whole cannot be given more. */
function requireBlank(text: string): void {
  if (text.trim() !== '') throw unreadable('arguments followed a call that was whole')
}

/** Whether a call's arguments are all there. */
function isWhole(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}

function readAnnotation(wire: Wire): Annotation | null {
  const cited = wire['url_citation']
  if (!isRecord(cited)) return null
  return {
    url: stringOrNull(cited['url']),
    title: stringOrNull(cited['title']),
    citedText: stringOrNull(cited['content']),
    start: readCount(cited['start_index']),
    end: readCount(cited['end_index']),
  }
}

function readLogprob(wire: Wire): TokenLogprob {
  const top = wire['top_logprobs']
  return { ...readChance(wire), top: Array.isArray(top) ? top.filter(isRecord).map(readChance) : [] }
}

function readChance(wire: Wire): Omit<TokenLogprob, 'top'> {
  const { token, logprob, bytes } = wire
  return {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === 'number') : null,
  }
}
