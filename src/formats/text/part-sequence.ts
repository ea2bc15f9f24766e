import type { Annotation } from '../../canonical/text/conversation.ts'
import type { PartHead, Piece, TextEvent } from '../../canonical/text/events.ts'
import { streamHeldBytesMax, streamHeldFramesMax } from '../../core/limits/text.ts'
import { ArgumentsScan } from '../../json/scan.ts'
import { unreadable } from '../upstream-json.ts'

/** Texts of one choice that a citation may still be of after they have ended, and citations that wait for the first text. */
const streamTextsCitedMax = 1_000

/** The part under way; `key` tells whether the next piece belongs to it. */
interface OpenPart {
  key: string
  part: number
  /** Of a tool call. */
  scan: ArgumentsScan | null
  /** Of a text. */
  text: CitedText | null
}

/** A text, as citations find it. */
interface CitedText {
  key: string
  part: number
  /** Characters of the choice's texts before it, and its own. */
  offset: number
  length: number
}

/** A part whose pieces came before the call in front of it was whole. */
interface KeptPart {
  head: PartHead
  pieces: Piece[]
  isWhole: boolean
}

/**
 * The parts of one choice, one behind the other, although its provider may have several under way at once. Its pieces say by
 * a key to which part they belong. What comes between the pieces of a tool call is kept back until that call is whole; of
 * anything else the next part begins at once, and what still comes for it is a part of its own.
 */
export class PartSequence {
  readonly #choice: number
  readonly #emit: (event: TextEvent) => void
  #open: OpenPart | null = null
  #parts = 0
  readonly #kept = new Map<string, KeptPart>()
  #keptPieces = 0
  #keptLength = 0
  /** Calls that were whole when something else followed. */
  readonly #told = new Set<string>()
  /** Texts that have ended. */
  readonly #texts: CitedText[] = []
  #textLength = 0
  /** Citations that came before their text. */
  #early: { key: string; annotation: Annotation }[] = []

  constructor(choice: number, emit: (event: TextEvent) => void) {
    this.#choice = choice
    this.#emit = emit
  }

  /**
   * A piece of the part with this key, which `head` begins where it is not there; null for a part that has none so far.
   * @throws GatewayError - for arguments of a call that was whole, and when too much waits for a call
   */
  add(key: string, head: PartHead, piece: Piece | null): void {
    if (this.#open?.key === key) this.#piece(piece)
    else if (this.#told.has(key)) requireBlank(piece)
    else if (this.#mustWait()) this.#keep(key, head, piece)
    else {
      this.#begin(key, head)
      this.#piece(piece)
    }
    if (this.#kept.size > 0) this.#releaseWhole()
  }

  /**
   * A citation of the text with this key, whose places count all texts with that key as one. One that comes after the text
   * has ended names that part all the same; one that no text follows or precedes is of nothing, and left out.
   */
  annotate(key: string, annotation: Annotation): void {
    const piece: Piece = { type: 'annotation', annotation }
    const { start } = annotation
    const open = this.#open?.text?.key === key ? this.#open.text : null
    const kept = this.#kept.get(key)
    const isOfEarlier = start !== null && start < (open?.offset ?? this.#textLength)
    if (open !== null && !isOfEarlier) this.#piece(piece)
    else if (kept?.head.type === 'text' && !isOfEarlier) this.#keep(key, kept.head, piece)
    else {
      const text = this.#citedText(key, start)
      if (text !== null) this.#tell(piece, text.part, text)
      else if (this.#early.length < streamTextsCitedMax) this.#early.push({ key, annotation })
    }
  }

  /** The provider says that the part with this key is whole. */
  end(key: string): void {
    const kept = this.#kept.get(key)
    if (kept !== undefined) kept.isWhole = true
    else if (this.#open?.key === key) this.#end()
    this.#releaseWhole()
  }

  /** Ends every part, those that wait in their order. */
  close(): void {
    this.#end()
    for (const key of this.#kept.keys()) this.#release(key)
    this.#end()
  }

  /** Whether a call is open that is not whole: what belongs to another part must wait for it. */
  #isAmidCall(): boolean {
    const scan = this.#open?.scan ?? null
    return scan !== null && !scan.isWhole
  }

  /** Nothing waits but amid a call, so what waits is the cheaper thing to look at. */
  #mustWait(): boolean {
    return this.#kept.size > 0 || this.#isAmidCall()
  }

  #keep(key: string, head: PartHead, piece: Piece | null): void {
    let kept = this.#kept.get(key)
    if (kept === undefined) {
      kept = { head, pieces: [], isWhole: false }
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
    const isText = piece.type === 'text' || piece.type === 'arguments'
    if (isText && last?.type === piece.type) {
      pieces[pieces.length - 1] = { ...piece, text: last.text + piece.text }
      return
    }
    this.#keptPieces += 1
    pieces.push(piece)
  }

  /** The call in front is whole: what waited for it may be told. */
  #releaseWhole(): void {
    // One walk: to ask a map for its first key anew passes over every key that was taken out before.
    for (const key of this.#kept.keys()) {
      if (this.#isAmidCall()) return
      this.#release(key)
    }
  }

  #release(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    this.#begin(key, kept.head)
    for (const piece of kept.pieces) this.#piece(piece)
    if (kept.isWhole) this.#end()
  }

  #begin(key: string, head: PartHead): void {
    this.#end()
    const part = this.#parts
    this.#parts += 1
    this.#open = {
      key,
      part,
      scan: head.type === 'tool_call' ? new ArgumentsScan() : null,
      text: head.type === 'text' ? { key, part, offset: this.#textLength, length: 0 } : null,
    }
    this.#emit({ type: 'part_begin', choice: this.#choice, part, head })
    if (head.type === 'text' && this.#early.length > 0) this.#tellEarly(key)
  }

  #tellEarly(key: string): void {
    for (const each of this.#early)
      if (each.key === key) this.#piece({ type: 'annotation', annotation: each.annotation })
    this.#early = this.#early.filter((each) => each.key !== key)
  }

  #end(): void {
    if (this.#open === null) return
    const { key, part, scan, text } = this.#open
    if (scan !== null) this.#told.add(key)
    if (text !== null && this.#texts.length < streamTextsCitedMax) this.#texts.push(text)
    this.#emit({ type: 'part_end', choice: this.#choice, part })
    this.#open = null
  }

  #piece(piece: Piece | null): void {
    if (this.#open === null || piece === null) return
    const { part, scan, text } = this.#open
    if (piece.type === 'arguments') scan?.push(piece.text)
    else if (piece.type === 'text' && text !== null) {
      text.length += piece.text.length
      this.#textLength += piece.text.length
    }
    this.#tell(piece, part, text)
  }

  #tell(piece: Piece, part: number, text: CitedText | null): void {
    const isShifted = piece.type === 'annotation' && text !== null && text.offset > 0
    const told = isShifted ? shifted(piece, text.offset) : piece
    this.#emit({ type: 'piece', choice: this.#choice, part, piece: told })
  }

  /** The ended text with the character at `start`, else the last one. */
  #citedText(key: string, start: number | null): CitedText | null {
    const holds = ({ key: its, offset, length }: CitedText) =>
      its === key && start !== null && start >= offset && start < offset + length
    return this.#texts.find(holds) ?? this.#texts.findLast((text) => text.key === key) ?? null
  }
}

/** The citation with its places counted within its own text. */
function shifted({ annotation }: Extract<Piece, { type: 'annotation' }>, offset: number): Piece {
  const within = (place: number | null) => (place === null ? null : Math.max(0, place - offset))
  const { start, end } = annotation
  return { type: 'annotation', annotation: { ...annotation, start: within(start), end: within(end) } }
}

/** Some hosts send a last piece without a word; a call that was told whole cannot be given more. */
function requireBlank(piece: Piece | null): void {
  if (piece !== null && 'text' in piece && piece.text.trim() !== '')
    throw unreadable('arguments followed a call that was whole')
}
