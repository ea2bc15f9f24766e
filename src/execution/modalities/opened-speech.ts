import type { SpeechStream } from '../../canonical/audio.ts'
import type { SharedTurns } from '../../core/shared-turns.ts'
import type { UpstreamResponse } from '../../transport/exchange.ts'
import type { CallerRest } from '../settling/caller-rest.ts'

/** First piece of a larger body; leaves room for any headers in the same system call. */
const corkedPieceBytes = 4_096

const nothing = new Uint8Array(0)

/** What speech is read from, and what it is converted by. */
export interface SpeechSource {
  response: UpstreamResponse
  stream: SpeechStream
  /** Shared by all streams of this process, because they have one event loop. */
  turns: SharedTurns
  rest: CallerRest
}

/**
 * Speech whose provider has begun to speak. It is read as its caller takes it, and its owner reads it to its end or
 * closes it.
 */
export class OpenedSpeech {
  readonly stream: SpeechStream
  readonly rest: CallerRest
  readonly #response: UpstreamResponse
  readonly #turns: SharedTurns
  /** What was read and not converted yet. */
  #waiting: Uint8Array = nothing
  #first: Uint8Array = nothing
  #tail: Uint8Array | null = null

  private constructor({ response, stream, turns, rest }: SpeechSource) {
    this.#response = response
    this.stream = stream
    this.#turns = turns
    this.rest = rest
  }

  /**
   * Reads until there is sound to show, so that errors before the first byte stay JSON. `lead` is shown before the sound.
   */
  static async open(source: SpeechSource, lead: Uint8Array = nothing): Promise<OpenedSpeech> {
    const opened = new OpenedSpeech(source)
    try {
      // The stream of a short answer ends here, so that an empty or invalid one fails while another endpoint may still
      // try.
      opened.#first = Buffer.concat([lead, (await opened.#convertNext()) ?? nothing])
      return opened
    } catch (error) {
      opened.close()
      throw error
    }
  }

  /** The last bytes, which are shown once the capture is durable; null while the provider still speaks. */
  get tail(): Uint8Array | null {
    return this.#tail
  }

  /** Nothing more is read or converted. */
  close(): void {
    this.#response.body.cancel()
    this.stream.close()
  }

  /** The next bytes; null when only the tail is left. Called when the caller has taken the bytes before. */
  async next(): Promise<Uint8Array | null> {
    this.rest.end()
    const bytes = await this.#nextBytes()
    this.rest.begin()
    return bytes
  }

  async #nextBytes(): Promise<Uint8Array | null> {
    const first = this.#first
    if (first.length === 0) return this.#tail === null ? this.#convertNext() : null
    // The server writes a small first piece together with the headers; before a large one it writes each header alone.
    this.#first = restOf(first, corkedPieceBytes)
    return first.subarray(0, corkedPieceBytes)
  }

  /** Reads until there is sound to show; null at the end, when only the tail is left. */
  async #convertNext(): Promise<Uint8Array | null> {
    for (;;) {
      const piece = await this.#nextPiece()
      if (piece === null) {
        this.#tail = await this.stream.end()
        return null
      }
      const bytes = await this.stream.push(piece)
      if (bytes !== null && bytes.length > 0) return bytes
    }
  }

  /**
   * A piece that can be converted in one turn: a long read is cut, and each piece waits for its turn among those of all
   * streams.
   */
  async #nextPiece(): Promise<Uint8Array | null> {
    if (this.#waiting.length === 0) {
      const { done, value } = await this.#response.body.read()
      if (done) return null
      this.#waiting = value
    }
    const turn = this.#turns.next()
    if (turn !== null) await turn
    const waiting = this.#waiting
    const { pieceBytes } = this.stream
    this.#waiting = restOf(waiting, pieceBytes)
    return waiting.subarray(0, pieceBytes)
  }
}

/** An empty view would keep all of the bytes in memory as long as the caller takes nothing. */
function restOf(bytes: Uint8Array, takenBytes: number): Uint8Array {
  return bytes.length > takenBytes ? bytes.subarray(takenBytes) : nothing
}
