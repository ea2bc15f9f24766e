import type { PartHead, Piece, TextEvent } from '../canonical/text/events.ts'
import { streamHeldBytesMax, streamHeldFramesMax } from '../core/limits/text.ts'
import { ArgumentsScan } from './arguments-scan.ts'
import { unreadable } from './upstream-json.ts'

/** The part under way; `key` tells whether the next piece belongs to it. */
interface OpenPart {
  key: string
  part: number
  /** Of a tool call. */
  scan: ArgumentsScan | null
}

/** A part whose pieces came before the call in front of it was whole. */
interface KeptPart {
  head: PartHead
  pieces: Piece[]
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
    for (const piece of kept.pieces) this.#piece(piece)
  }

  #begin(key: string, head: PartHead): void {
    this.#end()
    this.#open = { key, part: this.#parts, scan: head.type === 'tool_call' ? new ArgumentsScan() : null }
    this.#parts += 1
    this.#emit({ type: 'part_begin', choice: this.#choice, part: this.#open.part, head })
  }

  #end(): void {
    if (this.#open === null) return
    if (this.#open.scan !== null) this.#told.add(this.#open.key)
    this.#emit({ type: 'part_end', choice: this.#choice, part: this.#open.part })
    this.#open = null
  }

  #piece(piece: Piece | null): void {
    if (this.#open === null || piece === null) return
    if (piece.type === 'arguments') this.#open.scan?.push(piece.text)
    this.#emit({ type: 'piece', choice: this.#choice, part: this.#open.part, piece })
  }
}

/** Some hosts send a last piece without a word; a call that was told whole cannot be given more. */
function requireBlank(piece: Piece | null): void {
  if (piece !== null && 'text' in piece && piece.text.trim() !== '')
    throw unreadable('arguments followed a call that was whole')
}
