import type { SpeechBilled, SpeechOutput, SpeechReader } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import { audioFieldsDepthMax } from '../../core/limits/audio.ts'
import { parseAnswerText, unreadable } from '../upstream-json.ts'
import { createDocumentSplitter, type DocumentFraming } from './document-lines.ts'
import { SplitStream, type StringsToTake } from '../../json/split-stream.ts'
import { SoundDecoder, type SoundEncoding } from './sound-decoder.ts'

/** Everything of one JSON document of a speech answer but its sound: the times of each letter of a long text fit. */
const speechFieldsBytesMax = 4_000_000
/** Sound that came before its own description. After so much, it counts as the format that the provider documents. */
const speechUndescribedBytesMax = 262_144

/** What one JSON document of a speech answer says besides its sound. */
export interface SoundFacts {
  /** What the sound is, where the document describes it. */
  output?: SpeechOutput
  billed?: SpeechBilled
  /** The provider says that nothing follows. */
  isLast?: boolean
}

/** How a provider wraps sound in JSON. */
export interface SpeechWrapping {
  /** Names of members from the top to the sound; `*` is any place of a list. */
  at: readonly string[]
  /** How the sound is written there. */
  encoding: SoundEncoding
  framing: DocumentFraming
  /** What the sound is unless a document says otherwise. */
  output: SpeechOutput
  /** A document describes its sound, perhaps behind it, so that the first sound waits for the end of its document. */
  isDescribed?: boolean
  /** The last of the documents says that it is; a body that ends before is broken off. */
  hasLast?: boolean
  /** Reads a document whose sound was taken out. Throws the failure that it reports. */
  read(fields: Record<string, unknown>): SoundFacts
}

const nothing = new Uint8Array(0)

/** The reader of a body of JSON with sound in it: one document, one in each line, or one in each event. */
export function wrappedSpeech(wrapping: SpeechWrapping): SpeechReader {
  return new WrappedSpeech(wrapping)
}

class WrappedSpeech implements SpeechReader {
  output: SpeechOutput
  billed: SpeechBilled | null = null
  readonly framing
  readonly #wrapping: SpeechWrapping
  readonly #stream: SplitStream
  readonly #splitter
  #sound: Uint8Array[] = []
  #isHeld: boolean
  #isLast = false

  constructor(wrapping: SpeechWrapping) {
    this.#wrapping = wrapping
    this.output = wrapping.output
    this.framing = wrapping.framing
    this.#isHeld = wrapping.isDescribed === true
    this.#stream = new SplitStream(soundToTake(wrapping))
    this.#splitter = createDocumentSplitter(wrapping.framing, {
      push: (piece) => this.#stream.push(piece, this.#sound),
      endDocument: () => this.#readDocument(),
    })
  }

  push(piece: Uint8Array): Uint8Array {
    this.#splitter.push(piece)
    return this.#take()
  }

  end(): Uint8Array {
    this.#splitter.end()
    if (this.#wrapping.hasLast === true && !this.#isLast)
      throw new GatewayError('provider_failed', 'The provider ended the speech before it was whole.')
    this.#isHeld = false
    return this.#take()
  }

  #readDocument(): void {
    if (this.#stream.isInTaken) throw unreadable('it ended within its sound')
    const text = new TextDecoder().decode(this.#stream.rest)
    this.#stream.reset()
    // A blank line, or an event without data.
    if (text.trim() === '') return
    // The end of OpenAI's event streams, which several providers took over.
    if (text.trim() === '[DONE]') {
      this.#isLast = true
      return
    }
    const { output, billed, isLast } = this.#wrapping.read(parseAnswerText(text))
    if (output && this.#isHeld) this.output = output
    if (output) this.#isHeld = false
    this.billed = billed ?? this.billed
    this.#isLast ||= isLast === true
  }

  #take(): Uint8Array {
    if (this.#sound.length === 0) return nothing
    if (this.#isHeld && lengthOf(this.#sound) <= speechUndescribedBytesMax) return nothing
    this.#isHeld = false
    const [first = nothing] = this.#sound
    const sound = this.#sound.length === 1 ? first : Buffer.concat(this.#sound)
    this.#sound = []
    return sound
  }
}

/** What cannot be read of an answer is the provider's failure. */
function soundToTake({ at, encoding }: SpeechWrapping): StringsToTake {
  return {
    at,
    begin: () => new SoundDecoder(encoding),
    keptBytesMax: speechFieldsBytesMax,
    depthMax: audioFieldsDepthMax,
    errors: {
      tooManyBytes: () => unreadable('it has too much besides its sound'),
      tooDeep: () => unreadable('it is nested too deep'),
      brokenName: (_fault, cause) => unreadable('it is not JSON', cause),
      brokenEscape: (_escape, cause) => unreadable('its sound has an escape that JSON does not have', cause),
    },
  }
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
