import type { Annotation } from '../../canonical/text/conversation.ts'
import type { PartHead, Piece, TextEvent } from '../../canonical/text/events.ts'
import { streamHeldBytesMax, streamHeldFramesMax } from '../../core/limits/text.ts'
import { ArgumentsScan } from '../../json/scan.ts'
import { unreadable } from '../upstream-json.ts'

/** Texts of one choice that a citation may still be of after they have ended, and citations that wait for the first text. */
const streamTextsCitedMax = 1_000

/** The open part; `key` tells whether the next piece belongs to it. */
interface OpenPart {
  key: string
  part: number
  /** For a tool call only. */
  scan: ArgumentsScan | null
  /** For a text only. */
  text: CitedText | null
}

/** A text that citations can refer to. */
interface CitedText {
  key: string
  part: number
  /** The characters of the choice's texts before this one. */
  offset: number
  length: number
}

/** A part whose pieces came before the open call was complete. */
interface KeptPart {
  head: PartHead
  pieces: Piece[]
  isWhole: boolean
}

/**
 * Puts the parts of one choice one after another, although its provider may have several open at once. A key says to
 * which part a piece belongs. Pieces that come in the middle of a tool call wait until the call is complete. Any other
 * part ends as soon as the next one begins, and later pieces for it become a new part.
 */
export class PartSequence {
  readonly #choice: number
  readonly #emit: (event: TextEvent) => void
  #open: OpenPart | null = null
  #parts = 0
  readonly #kept = new Map<string, KeptPart>()
  #keptPieces = 0
  #keptLength = 0
  /** Keys of calls that have ended. */
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
   * Adds a piece to the part with this key; `head` begins the part if it does not exist. `piece` is null for a part
   * without pieces so far.
   * @throws GatewayError - for arguments of a complete call, and when too much waits for a call
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
   * Adds a citation of the text with this key. Its positions count all texts with that key as one. After its text has
   * ended, the citation still names that part. A citation without any text is dropped.
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

  /** The provider says that the part with this key is complete. */
  end(key: string): void {
    const kept = this.#kept.get(key)
    if (kept !== undefined) kept.isWhole = true
    else if (this.#open?.key === key) this.#end()
    this.#releaseWhole()
  }

  /** Ends every part, the waiting ones in order. */
  close(): void {
    this.#end()
    for (const key of this.#kept.keys()) this.#release(key)
    this.#end()
  }

  /** Whether an incomplete call is open; pieces of other parts must then wait. */
  #isAmidCall(): boolean {
    const scan = this.#open?.scan ?? null
    return scan !== null && !scan.isWhole
  }

  /** Parts wait only in the middle of a call, so the cheap test of the waiting parts comes first. */
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

  /** Consecutive texts are joined, so that their length bounds the memory. */
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

  /** When the open call is complete, the waiting parts may be emitted. */
  #releaseWhole(): void {
    // One iteration over the keys: asking a map for its first key again would pass over all deleted keys.
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

  /** The ended text that contains the character at `start`, otherwise the last text. */
  #citedText(key: string, start: number | null): CitedText | null {
    const holds = ({ key: its, offset, length }: CitedText) =>
      its === key && start !== null && start >= offset && start < offset + length
    return this.#texts.find(holds) ?? this.#texts.findLast((text) => text.key === key) ?? null
  }
}

/** The citation, with positions relative to its own text. */
function shifted({ annotation }: Extract<Piece, { type: 'annotation' }>, offset: number): Piece {
  const within = (place: number | null) => (place === null ? null : Math.max(0, place - offset))
  const { start, end } = annotation
  return { type: 'annotation', annotation: { ...annotation, start: within(start), end: within(end) } }
}

/** Some hosts send an empty last piece; a call that is complete accepts nothing else. */
function requireBlank(piece: Piece | null): void {
  if (piece !== null && 'text' in piece && piece.text.trim() !== '')
    throw unreadable('arguments followed a call that was whole')
}
