import type { AudioIntake, AudioSpool, DecodedTranscription } from '../../canonical/audio.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { type AudioHeaders, unknownMembers } from './audio-fields.ts'
import { parseField } from '../field-error.ts'
import { audioFieldsBytesMax, audioFieldsDepthMax } from '../../core/limits/audio.ts'
import { notJson } from '../../json/faults.ts'
import { requireUniqueNames } from '../../json/scan.ts'
import { SplitStream } from '../../json/split-stream.ts'
import { Base64Stream } from './base64-stream.ts'
import { formatOfMimeType, localAudio, readChunks } from './received-audio.ts'
import {
  inContract,
  remoteAudio,
  requireResponseFormat,
  toTranscriptionCall,
  transcriptionRequestSchema,
} from './transcription-request.ts'

/**
 * Reads a JSON transcription request of any size in constant memory: the audio goes to a spool while it is decoded,
 * whatever the order of members. Throws `invalid_request`, which names the field, `payload_too_large`, or
 * `storage_unavailable`; nothing is left on disk then.
 */
export async function decodeTranscriptionJson(
  body: ReadableStream<Uint8Array>,
  intake: AudioIntake,
  headers: AudioHeaders,
): Promise<DecodedTranscription> {
  const spool = intake.createSpool()
  try {
    return await decode(body, spool, intake, headers)
  } catch (error) {
    await spool.discard()
    throw error
  }
}

async function decode(
  body: ReadableStream<Uint8Array>,
  spool: AudioSpool,
  intake: AudioIntake,
  asked: AudioHeaders,
): Promise<DecodedTranscription> {
  const scanner = new AudioJsonScanner()
  await readChunks(body, async (chunk) => {
    for (const bytes of scanner.push(chunk)) await spool.write(bytes)
  })
  const { fields: sent, hasAudio, mimeType } = scanner.end()
  const { fields, headers } = inContract(sent, asked)
  requireResponseFormat(fields, headers)
  const wire = parseField(transcriptionRequestSchema, '', fields)
  const input = wire.input_audio
  if (hasAudio !== (input.data !== undefined))
    throw fieldError('input_audio', 'appears more than once; send it once.')
  if (hasAudio === (input.url !== undefined)) {
    throw fieldError('input_audio', 'needs either `data` with `format`, or `url`, and not both.')
  }
  const dropped = [
    ...unknownMembers(fields, transcriptionRequestSchema.shape),
    ...unknownMembers(memberOf(fields, 'input_audio'), { data: 1, url: 1, format: 1 }, 'input_audio.'),
  ]
  if (input.url !== undefined) {
    const audio = remoteAudio(input.url, { field: 'input_audio.url', statedFormat: input.format ?? null })
    const made = toTranscriptionCall(wire, audio, headers, dropped)
    await spool.discard()
    return { ...made, dispose: () => Promise.resolve() }
  }
  const format = input.format ?? formatOfMimeType(mimeType)
  if (format === null) throw formatRequired()
  const stored = await spool.finish()
  const audio = await localAudio(
    stored,
    {
      format,
      param: 'input_audio.data',
      says:
        input.format === undefined ? 'The data URL of "input_audio.data" says' : '"input_audio.format" says',
      formatParam: input.format === undefined ? 'input_audio.data' : 'input_audio.format',
    },
    intake,
  )
  return { ...toTranscriptionCall(wire, audio, headers, dropped), dispose: () => stored.dispose() }
}

/**
 * Splits a transcription request into the audio at `input_audio.data`, which is decoded on arrival, and the other
 * fields.
 */
export class AudioJsonScanner {
  #audio: Base64Stream | null = null
  readonly #stream = new SplitStream({
    at: ['input_audio', 'data'],
    begin: () => this.#beginAudio(),
    keptBytesMax: audioFieldsBytesMax,
    depthMax: audioFieldsDepthMax,
    errors: {
      tooManyBytes: tooManyFields,
      tooDeep,
      brokenName: notJson,
      brokenEscape: (escape) =>
        fieldError('input_audio.data', `has ${JSON.stringify(escape)}, an escape that JSON does not have.`),
    },
  })

  /** The audio decoded from this chunk, in order. Throws `invalid_request` or `payload_too_large`. */
  push(chunk: Uint8Array): Uint8Array[] {
    const decoded: Uint8Array[] = []
    this.#stream.push(chunk, decoded)
    return decoded
  }

  /**
   * The parsed fields, with `""` in place of the audio, and the MIME type of a data URL. Throws `invalid_request` when
   * they are not JSON, or when an object has a member twice.
   */
  end(): { fields: unknown; hasAudio: boolean; mimeType: string | null } {
    const { rest } = this.#stream
    let fields: unknown
    try {
      fields = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rest))
    } catch (cause) {
      throw notJson(this.#stream.describeFault(), cause)
    }
    requireUniqueNames(rest)
    return { fields, hasAudio: this.#audio !== null, mimeType: this.#audio?.mimeType ?? null }
  }

  #beginAudio(): Base64Stream {
    if (this.#audio !== null) {
      throw new GatewayError('invalid_request', '`input_audio.data` appears more than once. Send it once.', {
        param: 'input_audio.data',
      })
    }
    this.#audio = new Base64Stream('input_audio.data')
    return this.#audio
  }
}

function tooManyFields(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The fields besides \`input_audio.data\` are larger than ${audioFieldsBytesMax} bytes. Shorten them.`,
  )
}

function tooDeep(): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The request body is nested deeper than ${audioFieldsDepthMax} levels. Flatten it.`,
  )
}

function memberOf(fields: unknown, name: string): unknown {
  return typeof fields === 'object' && fields !== null
    ? Object.getOwnPropertyDescriptor(fields, name)?.value
    : undefined
}

function formatRequired(): GatewayError {
  return new GatewayError(
    'invalid_request',
    '`input_audio.format` is required with `data`. Name the format, such as "wav", "mp3", "flac", "m4a", "ogg", "webm", "aac" or "pcm".',
    { param: 'input_audio.format' },
  )
}
