import type { GatewayError } from '../core/errors.ts'
import type { AudioSource, SpeechCall, TranscriptionCall } from './call.ts'
import type { Adapter } from './steps.ts'
import type { Endpoint } from './endpoint.ts'
import type { Usage } from './usage.ts'

/** Received audio, kept in memory or in a file until it is disposed; can be read any number of times. */
export interface StoredAudio {
  sizeBytes: number
  /** The first bytes, enough to recognise a container; fewer when the audio is shorter. */
  head: Uint8Array
  /**
   * Its bytes, chunk by chunk. A chunk is valid until the next is requested, because both may lie in the same memory.
   */
  open(): ReadableStream<Uint8Array>
  /** Random access; reads only the parts that are sliced and read. */
  blob(): Blob
  /** Frees memory and file. May be called more than once, never rejects. */
  dispose(): Promise<void>
}

/** Takes audio as it arrives, then either gives it with `finish`, once, or frees it with `discard`. */
export interface AudioSpool {
  /** Resolves when more may be written; `chunk` may be reused afterwards. Throws `payload_too_large`. */
  write(chunk: Uint8Array): Promise<void>
  finish(): Promise<StoredAudio>
  /** Frees the upload's resources, also after it was finished; may be called again, never rejects. */
  discard(): Promise<void>
}

/** The services that decoding an upload needs, so that formats need no files. */
export interface AudioIntake {
  createSpool(): AudioSpool
  /** Recognises the bytes, and checks whether they can be of the format that the sender stated (null when none was stated). */
  recognize(stored: StoredAudio, stated: string | null): Promise<SoundFinding>
}

/** What received bytes are. */
export type SoundFinding =
  /** Sound of this format: the stated one, unless the sender stated none. */
  | { type: 'sound'; format: string }
  /** Sound of another known format than the sender stated. */
  | { type: 'other_sound'; format: string }
  /** No sound of the stated format or of any that is known; `what` is a word for it where there is one, such as `text`. */
  | { type: 'no_sound'; what: string | null }

/** Audio whose bytes the gateway holds. */
export interface LocalAudio extends AudioSource {
  stored: StoredAudio
  /** The request fields that errors name: the one with the bytes or their address, and the one with the format. */
  field: string
  formatField: string
}

/**
 * Audio at a public URL. An endpoint that takes URLs gets `url`; for any other endpoint the gateway first fetches the
 * audio and passes `LocalAudio` instead. Until then the size is 0 and `open` must not be called.
 */
export interface RemoteAudio extends AudioSource {
  url: string
  /** The request field that named the address, as the caller wrote it. */
  field: string
  /** The format that the caller stated; null when it stated none, or only the address tells one. */
  statedFormat: string | null
}

/** True for audio that has not been fetched yet. */
export function isRemoteAudio(source: AudioSource): source is RemoteAudio {
  return 'url' in source
}

/** True for audio whose bytes can be read. */
export function isLocalAudio(source: AudioSource): source is LocalAudio {
  return 'stored' in source
}

/** The form of a transcript for the caller: the contract's JSON, or the type that `Accept` names. */
export type TranscriptMedia = 'json' | 'vtt' | 'srt' | 'text'

/** A decoded transcription request. The caller of the decoder disposes it, also when the call is refused later. */
export interface DecodedTranscription {
  call: TranscriptionCall
  media: TranscriptMedia
  /** Whether the transcript is sent as events; the media is then `json`. */
  isStreamed: boolean
  dispose(): Promise<void>
}

/** Times are seconds from the beginning, not negative. Scores are the provider's; they are absent when it sent none. */
export interface TranscriptSegment {
  id: number
  start: number
  end: number
  text: string
  seek?: number
  tokens?: readonly number[]
  temperature?: number
  avg_logprob?: number
  compression_ratio?: number
  no_speech_prob?: number
  speaker?: number
  speaker_label?: string
  channel?: number
}

/** A word or another sound; times and scores as in a segment. */
export interface TranscriptWord {
  word: string
  start: number
  end: number
  confidence?: number
  /** Numbered from 0 by first appearance; `speaker_label` keeps the provider's own name. */
  speaker?: number
  speaker_label?: string
  type?: 'word' | 'audio_event'
  channel?: number
}

/** Offsets are code points into `text`; the end is exclusive. */
export interface TranscriptEntity {
  text: string
  type: string
  start_char: number
  end_char: number
}

/**
 * A transcript of any provider, in one form. Null means that the provider did not report a value; no value is invented.
 */
export interface CanonicalTranscription {
  text: string
  /** Two letters where a code is known, else the provider's own word for it. */
  language: string | null
  /** Seconds as the provider measured them; already checked for plausibility. */
  durationSeconds: number | null
  /** Channels of the audio as the provider counted them; absent when it did not report them. */
  channels?: number
  segments: readonly TranscriptSegment[] | null
  words: readonly TranscriptWord[] | null
  confidence: number | null
  languageConfidence: number | null
  entities: readonly TranscriptEntity[] | null
  tokens: { input: number; inputAudio: number; output: number } | null
  upstreamId: string | null
}

/** Reads a transcript that its provider streams; feed every chunk, then call `end` once. */
export interface TranscriptReader {
  /** The text that this piece adds; empty for none. Throws `provider_failed` for an error in the stream. */
  push(chunk: Uint8Array): string
  /** The whole transcript. Throws `provider_failed` when the stream broke off. */
  end(): CanonicalTranscription
}

/** One way to ask an upstream for a transcript. If it can stream, callers that want events get the text in pieces. Pure. */
export type TranscriptionAdapter = Adapter<
  TranscriptionCall,
  unknown,
  CanonicalTranscription,
  TranscriptReader
>

/** The format of an upstream's sound without the body's wrapping. A WAV file describes its own format. */
export type SpeechOutput =
  | { container: 'mpeg' }
  | { container: 'wav' }
  | { container: 'pcm'; encoding: 's16le' | 'f32le'; rate: number; channels: number }

/** What a provider reports as billed for speech: characters, tokens or time. Not yet checked for plausibility. */
export type SpeechBilled = Readonly<Partial<Usage>>

/**
 * Takes the sound out of an upstream's successful body: raw, or base64 or hexadecimal in JSON, in events or in lines.
 * Synchronous, with memory that does not grow with the body. Feed it every piece, then call `end` once. The caller bounds
 * the size of the pieces, so that none takes long.
 */
export interface SpeechReader {
  /** The sound in this piece, which may be empty. Throws the failure that the body reports, or `provider_failed`. */
  push(piece: Uint8Array): Uint8Array
  /** The sound that was still held. Throws also when the body ended before it said that it was whole. */
  end(): Uint8Array
  /** Valid from the first sound on. */
  readonly output: SpeechOutput
  /** What headers and body have reported so far; null while they have reported nothing. */
  readonly billed: SpeechBilled | null
  /** How the body is cut into the JSON that has the sound; absent where the body is the sound itself. */
  readonly framing?: 'json' | 'lines' | 'events'
}

/** One way to ask an upstream for speech whose answer is a body with sound in it. Pure. */
export type SpeechAdapter = Adapter<SpeechCall, unknown, never, SpeechReader>

/** A value, or a promise of it when another thread must convert the sound first. */
type Soon<Value> = Value | Promise<Value>

/**
 * An upstream's body on its way to the caller as sound. Pass every piece of the body, each after the answer to the one
 * before, then call `end` once.
 */
export interface SpeechStream {
  /** The bytes that the caller may have now, or null. Throws `provider_failed` when the body is not audio. */
  push(piece: Uint8Array): Soon<Uint8Array | null>
  /** The kept-back tail, to be shown once the capture is durable. Throws `provider_failed` when no audio came. */
  end(): Soon<Uint8Array>
  /** Frees the stream's resources, also before its end. May be called again, never throws. */
  close(): void
  /** The most bytes of the body to pass at once, as far as known: a conversion may return many times more. */
  readonly pieceBytes: number
  /** True once at least one whole frame or sample was among the bytes `push` returned: from then on it is billed. */
  readonly hasDelivered: boolean
  /** What the provider has reported as billed; null while it has reported nothing. */
  readonly billed: SpeechBilled | null
}

/** Something a call needs that not every endpoint of its model can do; checked before the hold. */
export interface AudioRequirement {
  /** The request field that asks for it, such as `diarize`. */
  name: string
  isMet(endpoint: Endpoint): boolean
  /** The refusal when none of these endpoints of the model can. */
  refuse(model: string, endpoints: readonly Endpoint[]): GatewayError
}

const formats: Readonly<Record<string, { contentType: string; extension: string }>> = {
  wav: { contentType: 'audio/wav', extension: 'wav' },
  mp3: { contentType: 'audio/mpeg', extension: 'mp3' },
  flac: { contentType: 'audio/flac', extension: 'flac' },
  m4a: { contentType: 'audio/mp4', extension: 'm4a' },
  ogg: { contentType: 'audio/ogg', extension: 'ogg' },
  webm: { contentType: 'audio/webm', extension: 'webm' },
  aac: { contentType: 'audio/aac', extension: 'aac' },
  pcm: { contentType: 'audio/pcm', extension: 'pcm' },
}

const aliases: Readonly<Record<string, string>> = {
  wave: 'wav',
  'x-wav': 'wav',
  'vnd.wave': 'wav',
  mpeg: 'mp3',
  mpga: 'mp3',
  'x-mpeg': 'mp3',
  mp4: 'm4a',
  'x-m4a': 'm4a',
  'x-flac': 'flac',
  opus: 'ogg',
  oga: 'ogg',
  weba: 'webm',
  aacp: 'aac',
  'x-aac': 'aac',
  l16: 'pcm',
  s16le: 'pcm',
}

/** The short name of a format given as a name, an extension or a MIME subtype; null for an unknown one. */
export function toFormat(name: string): string | null {
  const lower = name.toLowerCase()
  if (Object.hasOwn(formats, lower)) return lower
  return Object.hasOwn(aliases, lower) ? (aliases[lower] ?? null) : null
}

/** MIME type of a short format name; an unknown one, which must be safe in a header, is passed as `audio/<name>`. */
export function contentTypeOf(format: string): string {
  return formats[format]?.contentType ?? `audio/${format.toLowerCase()}`
}

/** A file name with the format's extension and nothing of the caller's. */
export function fileNameOf(format: string): string {
  return `audio.${formats[format]?.extension ?? format.toLowerCase()}`
}

/** The contract's headerless input: 16-bit little-endian, mono, at this rate. */
export const pcmInputRate = 16_000

/** The contract's `pcm` output: 16-bit little-endian, mono, at this rate. */
export const pcmOutputRate = 24_000

export const wavHeaderBytes = 44

/** The header of a WAV file of 16-bit mono samples; `dataBytes` is what follows it. */
export function wavHeader(dataBytes: number, rate: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(wavHeaderBytes))
  const size = Math.min(dataBytes, 0xffff_ffff - wavHeaderBytes)
  header.setUint32(0, 0x52494646)
  header.setUint32(4, size + wavHeaderBytes - 8, true)
  header.setUint32(8, 0x57415645)
  header.setUint32(12, 0x666d7420)
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, rate, true)
  header.setUint32(28, rate * 2, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  header.setUint32(36, 0x64617461)
  header.setUint32(40, size, true)
  return new Uint8Array(header.buffer)
}
