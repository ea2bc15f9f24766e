import type { CanonicalTranscription, TranscriptReader } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import { answerBytesMax } from '../../core/limits/calls.ts'
import { streamFrameBytesMax } from '../../core/limits/text.ts'
import { createFrameSplitter, readFrameData, toUtf8, type ByteText } from '../sse.ts'

/** Reads a whole transcript, as the same provider answers without a stream. */
type ReadWhole = (bytes: Uint8Array) => CanonicalTranscription

/**
 * Reads OpenAI's events of a transcription. A model that does not stream answers as a whole, also when it was asked for
 * events; that is read by its first letter.
 */
export function openAiTranscriptReader(readWhole: ReadWhole): TranscriptReader {
  return new OpenAiTranscriptReader(readWhole)
}

class OpenAiTranscriptReader implements TranscriptReader {
  readonly #readWhole: ReadWhole
  readonly #splitter = createFrameSplitter(streamFrameBytesMax)
  /** Pieces of an answer that is no stream; null once it is known to be one. */
  #pieces: Uint8Array[] | null = []
  #bytes = 0
  #done: string | null = null
  #failure: GatewayError | null = null

  constructor(readWhole: ReadWhole) {
    this.#readWhole = readWhole
  }

  push(chunk: Uint8Array): string {
    this.#bytes += chunk.length
    if (this.#bytes > answerBytesMax) throw brokenOff('its answer is too large')
    if (this.#pieces !== null) {
      this.#pieces.push(new Uint8Array(chunk))
      const begun = Buffer.concat(this.#pieces)
      const first = begun.toString('latin1').trimStart()[0]
      if (first === undefined || first === '{') return ''
      this.#pieces = null
      return this.#read(this.#splitter.push(begun))
    }
    return this.#read(this.#splitter.push(chunk))
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
    // Kept until the text before it has been given.
    if (event === null) this.#failure ??= brokenOff('it sent an event that is no JSON')
    else if ('error' in event) this.#failure ??= brokenOff('it told of an error')
    if (event === null || this.#failure) return ''
    if (event['type'] === 'transcript.text.done') this.#done = data
    const { delta } = event
    return event['type'] === 'transcript.text.delta' && typeof delta === 'string' ? delta : ''
  }
}

/** Null for what is no JSON of an object. */
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
