import { pcmOutputRate, type SpeechReader, type SpeechStream, type SpeechOutput } from '../canonical/audio.ts'
import type { SpeechCall } from '../canonical/call.ts'
import type { PassedFormat } from '../canonical/endpoint.ts'
import { GatewayError } from '../core/errors.ts'
import { mpegSearchBytesMax } from '../core/limits/audio.ts'
import { readAdtsFrame } from './adts-frames.ts'
import { KeepBackStream } from './keep-back.ts'
import type { Mp3Codec, Mp3Conversion } from './mp3-codec.ts'
import { mp3FrameBytes, mp3InfoFrame } from './mp3-info-frame.ts'
import { MpegFrameDetector, readMpegFrame } from './mpeg-frames.ts'
import { isResamplable, Resampler } from './resampler.ts'
import { SampleReader, toS16, type SampleLayout } from './samples.ts'
import { sniffFormat } from './sniff.ts'
import { WavReader } from './wav-reader.ts'

/**
 * The speech that is held back until the capture is durable: at least a frame or 20 ms of samples, too little to be
 * heard as a delay.
 */
export const speechTailBytes = 1_024
/** The piece of a speech body that is unwrapped and converted at once, within a few milliseconds. */
const speechPieceBytes = 65_536
/** The piece of an mp3 body that is decoded at once: at the lowest rate, eight seconds of sound. */
const mp3PieceBytes = 8_192

/** A step that converts bytes; `end` returns its remaining bytes. */
interface Step {
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/** The format of a step's bytes. */
type SoundKind = 'samples' | 'mpeg'

interface SoundStep extends Step {
  kind: SoundKind
}

const nothing = new Uint8Array(0)

/** The size of the contract's samples. */
const bytesPerSample = 2

/** The content type of the caller's answer. */
export function speechContentType({
  responseFormat,
  isWav,
  passedFormat,
}: Pick<SpeechCall, 'responseFormat' | 'isWav' | 'passedFormat'>): string {
  if (passedFormat !== undefined) return `audio/${passedFormat}`
  if (isWav) return 'audio/wav'
  return responseFormat === 'mp3' ? 'audio/mpeg' : `audio/pcm;rate=${pcmOutputRate};channels=1`
}

/**
 * The header that makes the contract's samples a WAV file. The length is not known yet, so both length fields have the
 * largest possible value.
 */
export function wavHeader(): Uint8Array {
  const header = Buffer.from(
    'RIFF\xff\xff\xff\xffWAVEfmt \0\0\0\0'.padEnd(36, '\0') + 'data\xff\xff\xff\xff',
    'latin1',
  )
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(pcmOutputRate, 24)
  header.writeUInt32LE(pcmOutputRate * bytesPerSample, 28)
  header.writeUInt16LE(bytesPerSample, 32)
  header.writeUInt16LE(8 * bytesPerSample, 34)
  return header
}

/**
 * An upstream's answer on its way to the caller. The sound is extracted, refused when it is text or another container,
 * and converted to the contract's samples or to mp3 as needed; its last bytes wait until the capture is durable.
 */
export function createSpeechStream(
  { responseFormat, passedFormat }: Pick<SpeechCall, 'responseFormat' | 'passedFormat'>,
  reader: SpeechReader,
  codec: Mp3Codec,
): SpeechStream {
  if (passedFormat !== undefined) return createPassedStream(passedFormat, reader)
  const checked = new CheckedSound(reader)
  const asked: SoundKind = responseFormat === 'mp3' ? 'mpeg' : 'samples'
  let conversion: Mp3Conversion | null = null
  let kept: KeptSpeech | null = null

  const begin = (sound: Uint8Array): KeptSpeech => {
    const isMpeg = asked === 'mpeg'
    if (checked.kind !== asked) {
      conversion = codec.open(isMpeg ? 'encode' : 'decode')
      if (isMpeg) return new KeptSpeech({ isMpeg, tailBytes: mp3FrameBytes, lead: mp3InfoFrame() })
    }
    return new KeptSpeech({ isMpeg, tailBytes: isMpeg ? tailOf(sound) : speechTailBytes })
  }
  const convertRest = async (
    through: Mp3Conversion,
    rest: Uint8Array,
    to: KeptSpeech,
  ): Promise<Uint8Array> => {
    if (rest.length > 0) to.keepAll(await through.push(rest))
    to.keepAll(await through.end())
    through.close()
    return to.end()
  }

  return {
    push(piece) {
      const bytes = checked.push(reader.push(piece))
      if (bytes.length === 0) return null
      const to = (kept ??= begin(bytes))
      return conversion === null
        ? to.keep(bytes)
        : conversion.push(bytes).then((converted) => to.keep(converted))
    },
    end() {
      const rest = Buffer.concat([checked.push(reader.end()), checked.end()])
      if (kept === null && rest.length === 0) throw noAudio()
      const to = (kept ??= begin(rest))
      if (conversion !== null) return convertRest(conversion, rest, to)
      to.keepAll(rest)
      return to.end()
    },
    close: () => conversion?.close(),
    get pieceBytes() {
      return asked === 'samples' && checked.kind === 'mpeg' ? mp3PieceBytes : speechPieceBytes
    },
    get hasDelivered() {
      return kept?.hasDelivered === true
    },
    get billed() {
      return reader.billed
    },
  }
}

const containerOf: Readonly<Record<PassedFormat, string>> = { opus: 'ogg', aac: 'aac', flac: 'flac' }

/**
 * Sound of a format that passes unchanged: its first bytes must be those of the format, and its last ones wait as
 * always.
 */
function createPassedStream(format: PassedFormat, reader: SpeechReader): SpeechStream {
  const kept = new KeptSpeech({ isMpeg: false, tailBytes: speechTailBytes })
  let head: Uint8Array | null = nothing
  const check = (bytes: Uint8Array, isLast: boolean): Uint8Array => {
    if (head === null) return bytes
    head = Buffer.concat([head, bytes])
    if (head.length < headBytesMin && !isLast) return nothing
    if (sniffFormat(head) !== containerOf[format]) throw noAudio()
    const all = head
    head = null
    return all
  }
  return {
    push(piece) {
      const bytes = check(reader.push(piece), false)
      return bytes.length === 0 ? null : kept.keep(bytes)
    },
    end() {
      kept.keepAll(check(reader.end(), true))
      return kept.end()
    },
    close: () => undefined,
    pieceBytes: speechPieceBytes,
    get hasDelivered() {
      return kept.hasDelivered
    },
    get billed() {
      return reader.billed
    },
  }
}

/** One frame of MPEG when the first one tells the length of frames: more would be heard as a delay at a low rate. */
function tailOf(mpeg: Uint8Array): number {
  return Math.min(speechTailBytes, readMpegFrame(mpeg, 0)?.bytes ?? speechTailBytes)
}

/** Holds back the end of the output, and knows whether a whole frame or sample was shown. */
class KeptSpeech {
  readonly #keepBack: KeepBackStream
  readonly #shown
  readonly #all
  /** The bytes of the lead that are still to be shown; they are not sound. */
  #leadLeft: number

  /** Encoded sound begins with a `lead`. */
  constructor({
    isMpeg,
    tailBytes,
    lead = nothing,
  }: {
    isMpeg: boolean
    tailBytes: number
    lead?: Uint8Array
  }) {
    this.#shown = isMpeg ? new MpegFrameDetector() : new SampleDetector()
    this.#all = isMpeg ? new MpegFrameDetector() : new SampleDetector()
    this.#keepBack = new KeepBackStream(tailBytes)
    this.#leadLeft = lead.length
    this.#keepBack.append(lead)
  }

  get hasDelivered(): boolean {
    return this.#shown.hasFrame
  }

  /** The bytes that may be shown now, or null. */
  keep(bytes: Uint8Array): Uint8Array | null {
    this.#all.push(bytes)
    const shown = this.#keepBack.push(bytes)
    if (shown === null) return null
    this.#shown.push(shown.subarray(this.#leadLeft))
    this.#leadLeft = Math.max(0, this.#leadLeft - shown.length)
    return shown
  }

  /** Adds bytes that follow all bytes that may be shown before the end. */
  keepAll(bytes: Uint8Array): void {
    this.#all.push(this.#keepBack.append(bytes))
  }

  end(): Uint8Array {
    if (!this.#all.hasFrame) throw noAudio()
    return this.#keepBack.end()
  }
}

/** Refuses bytes that are not sound, judged by the first of them, and converts samples to the contract's. */
class CheckedSound {
  readonly #reader: SpeechReader
  #step: SoundStep | null = null
  #head: Uint8Array = nothing

  constructor(reader: SpeechReader) {
    this.#reader = reader
  }

  /** The format of the sound; until some has come, the format that the provider documents. */
  get kind(): SoundKind {
    return this.#step?.kind ?? (this.#reader.output.container === 'mpeg' ? 'mpeg' : 'samples')
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#step !== null || chunk.length === 0) return this.#step?.push(chunk) ?? nothing
    this.#head = this.#head.length === 0 ? new Uint8Array(chunk) : Buffer.concat([this.#head, chunk])
    return this.#head.length < headBytesMin ? nothing : this.#pushHead(this.#choose())
  }

  end(): Uint8Array {
    if (this.#step !== null) return this.#step.end()
    if (this.#head.length === 0) return nothing
    const step = this.#choose()
    return Buffer.concat([this.#pushHead(step), step.end()])
  }

  #pushHead(step: Step): Uint8Array {
    const head = this.#head
    // Released, so that it is not kept for the whole stream.
    this.#head = nothing
    return step.push(head)
  }

  #choose(): SoundStep {
    this.#step = chooseStep(this.#head, this.#reader.output)
    return this.#step
  }
}

/** Enough bytes to tell containers and text from samples. */
const headBytesMin = 12

function chooseStep(head: Uint8Array, output: SpeechOutput): SoundStep {
  const seen = sniffFormat(head)
  if (isText(head)) throw noAudio()
  // Some local servers return mp3 for every requested format.
  if (output.container === 'mpeg' || (seen === 'mp3' && isContainer(head))) {
    if (seen !== null && seen !== 'mp3') throw noAudio()
    // A tag of any length may stand before the first frame.
    const isTagged = seen === 'mp3' && head[0] !== 0xff
    const step = isTagged ? { push: (chunk: Uint8Array) => chunk, end: () => nothing } : mpegStep()
    return { kind: 'mpeg', ...step }
  }
  // Other servers put a header before their pcm.
  if (output.container === 'wav' || seen === 'wav') return { kind: 'samples', ...wavStep() }
  if (isContainer(head)) throw noAudio()
  const { encoding, rate, channels } = output
  return { kind: 'samples', ...samplesStep({ encoding, rate, channels }) }
}

/**
 * A JSON, HTML, event or plain text answer with status 200. Samples may begin with the same byte, but rarely with a
 * dozen printable ones.
 */
function isText(head: Uint8Array): boolean {
  const text = Buffer.from(head.subarray(0, 64)).toString('latin1')
  const isMarked = /^(?:\xef\xbb\xbf)?\s*[{[<"][\t\n\r\x20-\x7e\x80-\xff]*$/.test(text)
  return isMarked || (text.length >= headBytesMin && /^[\t\n\r\x20-\x7e]*$/.test(text))
}

/** Some servers return their only container for every format. Samples may look like one frame by chance, but not like two. */
function isContainer(head: Uint8Array): boolean {
  const seen = sniffFormat(head)
  if (seen === null || head[0] !== 0xff) return seen !== null
  const read = seen === 'aac' ? readAdtsFrame : readMpegFrame
  const frame = read(head, 0)
  return frame !== null && read(head, frame.bytes)?.kind === frame.kind
}

/** Waits for a whole frame: an answer without one is still an error, and another endpoint may answer. */
function mpegStep(): Step {
  const detector = new MpegFrameDetector()
  let waiting: Uint8Array = nothing
  return {
    push(chunk) {
      if (detector.hasFrame) return chunk
      detector.push(chunk)
      const all = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
      if (!detector.hasFrame && all.length > mpegSearchBytesMax) throw noAudio()
      waiting = detector.hasFrame ? nothing : new Uint8Array(all)
      return detector.hasFrame ? all : nothing
    },
    end: () => waiting,
  }
}

function wavStep(): Step {
  const reader = new WavReader()
  let step: Step | null = null
  return {
    push(chunk) {
      const data = reader.push(chunk)
      if (step === null && reader.layout !== null) step = samplesStep(reader.layout)
      return step === null ? nothing : step.push(data)
    },
    end: () => step?.end() ?? nothing,
  }
}

/** Samples in the contract's form pass unchanged; others are mixed and resampled. */
function samplesStep(layout: SampleLayout): Step {
  if (layout.encoding === 's16le' && layout.channels === 1 && layout.rate === pcmOutputRate)
    return wholeSamplesStep()
  if (!isResamplable(layout.rate, pcmOutputRate)) throw noAudio()
  const reader = new SampleReader(layout)
  if (layout.rate === pcmOutputRate) return { push: (chunk) => toS16(reader.push(chunk)), end: () => nothing }
  const resampler = new Resampler(layout.rate, pcmOutputRate)
  return {
    push: (chunk) => toS16(resampler.push(reader.push(chunk))),
    end: () => toS16(resampler.end()),
  }
}

/**
 * Half a sample waits for its other half; at the end it is dropped, because it would shift all later samples into
 * noise.
 */
function wholeSamplesStep(): Step {
  let half: Uint8Array = nothing
  return {
    push(chunk) {
      const all = half.length === 0 ? chunk : Buffer.concat([half, chunk])
      const wholeBytes = all.length - (all.length % bytesPerSample)
      // Copied, so that a large chunk is not kept alive.
      half = wholeBytes === all.length ? nothing : new Uint8Array(all.subarray(wholeBytes))
      return wholeBytes === all.length ? all : all.subarray(0, wholeBytes)
    },
    end: () => nothing,
  }
}

class SampleDetector {
  hasFrame = false
  #bytes = 0

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    this.hasFrame = this.#bytes >= bytesPerSample
  }
}

function noAudio(): GatewayError {
  return new GatewayError('provider_failed', 'The provider answered without audio in the format asked for.')
}
