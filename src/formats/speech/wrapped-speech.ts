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

/** The members of one JSON document of a speech answer besides its sound. */
export interface SoundFacts {
  /** The kind of sound, when the document describes it. */
  output?: SpeechOutput
  billed?: SpeechBilled
  /** The provider says that no document follows. */
  isLast?: boolean
}

/** How a provider wraps sound in JSON. */
export interface SpeechWrapping {
  /** The path of members from the top to the sound; `*` matches any position in a list. */
  at: readonly string[]
  /** The encoding of the sound. */
  encoding: SoundEncoding
  framing: DocumentFraming
  /** The kind of sound, unless a document describes another. */
  output: SpeechOutput
  /** A document describes its sound, perhaps after it, so the first sound waits until its document ends. */
  isDescribed?: boolean
  /** The last document is marked as the last; a body that ends without one is broken off. */
  hasLast?: boolean
  /** Reads a document without its sound. Throws the failure that the document reports. */
  read(fields: Record<string, unknown>): SoundFacts
}

const nothing = new Uint8Array(0)

/** Reads a JSON body with sound in it: a single document, one on each line, or one in each event. */
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
    // The end of an event stream of OpenAI; several providers follow it.
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

/** An answer that cannot be read is a failure of the provider. */
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
