import { pcmOutputRate, type SpeechReader, type SpeechStream, type SpeechOutput } from '../canonical/audio.ts'
import type { SpeechCall } from '../canonical/call.ts'
import { GatewayError } from '../core/errors.ts'
import { mpegSearchBytesMax, speechTailBytes } from '../core/limits/audio.ts'
import { readAdtsFrame } from './adts-frames.ts'
import { KeepBackStream } from './keep-back.ts'
import { MpegFrameDetector, readMpegFrame } from './mpeg-frames.ts'
import { isResamplable, Resampler } from './resampler.ts'
import { SampleReader, toS16, type SampleLayout } from './samples.ts'
import { sniffFormat } from './sniff.ts'
import { WavReader } from './wav-reader.ts'

/** Bytes through one step; `end` gives what the step still had. */
interface Step {
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

const nothing = new Uint8Array(0)

/** Of the contract's samples. */
const bytesPerSample = 2

/** What the caller's answer is called. */
export function speechContentType({
  responseFormat,
  isWav,
}: Pick<SpeechCall, 'responseFormat' | 'isWav'>): string {
  if (isWav) return 'audio/wav'
  return responseFormat === 'mp3' ? 'audio/mpeg' : `audio/pcm;rate=${pcmOutputRate};channels=1`
}

/** What makes the contract's samples a WAV file whose length is not known yet: both lengths are the largest there are. */
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
 * An upstream's answer on its way to the caller: its sound is taken out, refused when it is text or another container,
 * converted to the contract's samples where it must be, and shown without its last bytes until the capture is durable.
 */
export function createSpeechStream(
  call: Pick<SpeechCall, 'responseFormat'>,
  reader: SpeechReader,
): SpeechStream {
  const isMpeg = call.responseFormat === 'mp3'
  const detector = isMpeg ? new MpegFrameDetector() : new SampleDetector()
  const tailDetector = isMpeg ? new MpegFrameDetector() : new SampleDetector()
  const keepBack = new KeepBackStream(speechTailBytes)
  let step: Step | null = null
  let head: Uint8Array = nothing

  const convert = (chunk: Uint8Array): Uint8Array => {
    if (chunk.length === 0) return nothing
    if (step === null) {
      head = head.length === 0 ? new Uint8Array(chunk) : Buffer.concat([head, chunk])
      if (head.length < headBytesMin) return nothing
      step = chooseStep(head, reader.output)
      return step.push(head)
    }
    return step.push(chunk)
  }
  const keep = (bytes: Uint8Array): Uint8Array | null => {
    tailDetector.push(bytes)
    const shown = keepBack.push(bytes)
    if (shown !== null) detector.push(shown)
    return shown
  }
  const keepAll = (bytes: Uint8Array) => tailDetector.push(keepBack.append(bytes))

  return {
    push: (piece) => keep(convert(reader.push(piece))),
    end() {
      keepAll(convert(reader.end()))
      if (step === null && head.length > 0) {
        step = chooseStep(head, reader.output)
        keepAll(step.push(head))
      }
      if (step !== null) keepAll(step.end())
      if (!tailDetector.hasFrame) throw noAudio()
      return keepBack.end()
    },
    get hasDelivered() {
      return detector.hasFrame
    },
    get billed() {
      return reader.billed
    },
  }
}

/** Enough to tell every container, and text, from samples. */
const headBytesMin = 12

function chooseStep(head: Uint8Array, output: SpeechOutput): Step {
  const seen = sniffFormat(head)
  if (isText(head)) throw noAudio()
  if (output.container === 'mpeg') {
    if (seen !== null && seen !== 'mp3') throw noAudio()
    // A tag of any length may stand before the first frame.
    const isTagged = seen === 'mp3' && head[0] !== 0xff
    return isTagged ? { push: (chunk) => chunk, end: () => nothing } : mpegStep()
  }
  // Some local servers put a header before what they call pcm.
  if (output.container === 'wav' || seen === 'wav') return wavStep()
  if (isContainer(head)) throw noAudio()
  return samplesStep({ encoding: output.encoding, rate: output.rate, channels: output.channels })
}

/**
 * A JSON, HTML, event or plain text answer with status 200. Samples may begin with the same byte, hardly with a dozen
 * printable ones.
 */
function isText(head: Uint8Array): boolean {
  const text = Buffer.from(head.subarray(0, 64)).toString('latin1')
  const isMarked = /^(?:\xef\xbb\xbf)?\s*[{[<"][\t\n\r\x20-\x7e\x80-\xff]*$/.test(text)
  return isMarked || (text.length >= headBytesMin && /^[\t\n\r\x20-\x7e]*$/.test(text))
}

/** Some servers give their one container whatever was asked for. Samples may look like one frame, not like two. */
function isContainer(head: Uint8Array): boolean {
  const seen = sniffFormat(head)
  if (seen === null || head[0] !== 0xff) return seen !== null
  const read = seen === 'aac' ? readAdtsFrame : readMpegFrame
  const frame = read(head, 0)
  return frame !== null && read(head, frame.bytes)?.kind === frame.kind
}

/** Waits for a whole frame, so that an answer without any stays an error that another endpoint may make good. */
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

/** Samples that are already the contract's pass as they are; others are read, mixed and brought to its rate. */
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

/** Half a sample waits for its other half, and is left out at the end: what is played after it would be noise. */
function wholeSamplesStep(): Step {
  let half: Uint8Array = nothing
  return {
    push(chunk) {
      const all = half.length === 0 ? chunk : Buffer.concat([half, chunk])
      const wholeBytes = all.length - (all.length % bytesPerSample)
      // Copied, so that it does not keep a large chunk alive.
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
