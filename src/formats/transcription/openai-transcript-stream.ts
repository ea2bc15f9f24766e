import type { CanonicalTranscription, TranscriptReader } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import { answerBytesMax } from '../../core/limits/calls.ts'
import { streamFrameBytesMax } from '../../core/limits/text.ts'
import { createFrameSplitter, readFrameData, toUtf8, type ByteText } from '../sse.ts'

/** Reads a whole transcript, as the same provider sends it without a stream. */
type ReadWhole = (bytes: Uint8Array) => CanonicalTranscription

/** The names of a transcript's events, by `type`. */
export interface TranscriptEventNames {
  /** An event with a piece of the text. */
  delta: string
  /** The member with that piece. */
  deltaMember: string
  /** The last event, which has the members of a whole answer. */
  done: string
}

/** OpenAI's own names. */
export const openAiTranscriptEvents: TranscriptEventNames = {
  delta: 'transcript.text.delta',
  deltaMember: 'delta',
  done: 'transcript.text.done',
}

/**
 * Reads a transcript that arrives as events. A model without streaming sends a whole answer even when events were asked
 * for; its first character shows which one came.
 */
export function openAiTranscriptReader(names: TranscriptEventNames, readWhole: ReadWhole): TranscriptReader {
  return new OpenAiTranscriptReader(names, readWhole)
}

class OpenAiTranscriptReader implements TranscriptReader {
  readonly #names: TranscriptEventNames
  readonly #readWhole: ReadWhole
  readonly #splitter = createFrameSplitter(streamFrameBytesMax)
  /** The pieces of a whole answer; null once the answer is known to be a stream. */
  #pieces: Uint8Array[] | null = []
  /** Only white space has come so far, which decides nothing. */
  #isBlank = true
  #bytes = 0
  #hasShown = false
  #done: string | null = null
  #failure: GatewayError | null = null

  constructor(names: TranscriptEventNames, readWhole: ReadWhole) {
    this.#names = names
    this.#readWhole = readWhole
  }

  push(chunk: Uint8Array): string {
    this.#bytes += chunk.length
    if (this.#bytes > answerBytesMax) throw brokenOff('its answer is too large')
    if (this.#pieces === null) return this.#read(this.#splitter.push(chunk))
    this.#pieces.push(new Uint8Array(chunk))
    if (!this.#isBlank) return ''
    const first = Buffer.from(chunk).toString('latin1').trimStart()[0]
    this.#isBlank = first === undefined
    if (this.#isBlank || first === '{') return ''
    const begun = Buffer.concat(this.#pieces)
    this.#pieces = null
    return this.#read(this.#splitter.push(begun))
  }

  end(): CanonicalTranscription {
    if (this.#pieces !== null) return this.#readWhole(Buffer.concat(this.#pieces))
    this.#read(this.#splitter.end())
    if (this.#failure) throw this.#failure
    if (this.#done === null) throw brokenOff('it ended before its transcript did')
    return this.#readWhole(Buffer.from(this.#done))
  }

  #read(frames: ByteText | null): string {
    if (this.#failure) throw this.#failure
    let text = ''
    for (const frame of (frames ?? '').split('\n\n')) {
      const data = readFrameData(frame)
      if (data !== null && data.startsWith('{')) text += this.#take(toUtf8(data))
    }
    return text
  }

  #take(data: string): string {
    const event = parseEvent(data)
    // Kept until the text before it has been returned.
    if (event === null) this.#failure ??= brokenOff('it sent an event that is no JSON')
    else if ((event['error'] ?? null) !== null || event['type'] === 'error')
      this.#failure ??= brokenOff('it told of an error')
    if (event === null || this.#failure) return ''
    if (event['type'] === this.#names.done) this.#done = data
    return event['type'] === this.#names.delta ? this.#shown(event[this.#names.deltaMember]) : ''
  }

  /** The whole text begins without the space that some providers put before the first word. */
  #shown(piece: unknown): string {
    if (typeof piece !== 'string') return ''
    const text = this.#hasShown ? piece : piece.trimStart()
    this.#hasShown ||= text !== ''
    return text
  }
}

/** Null for data that is not a JSON object. */
function parseEvent(data: string): Readonly<Record<string, unknown>> | null {
  try {
    const event: unknown = JSON.parse(data)
    return typeof event === 'object' && event !== null ? { ...event } : null
  } catch {
    return null
  }
}

function brokenOff(problem: string): GatewayError {
  return new GatewayError('provider_failed', `The provider broke off the transcript: ${problem}.`)
}
