import { hear, type Listening } from './audio/hearing.ts'
import { invalidRequest } from './errors.ts'
import type { MultipartForm } from './multipart.ts'
import type { Reply } from './reply.ts'
import { transcriptionReply } from './transcription-body.ts'
import { parseTranscription } from './transcription-request.ts'

/** One transcription call after authentication. */
export interface TranscriptionCall extends Listening {
  form: MultipartForm
}

const supported = 'flac, m4a, mp3, mp4, mpeg, mpga, oga, ogg, wav, webm'

/** A model that separates speakers requires chunks above this length. */
const unchunkedSecondsMax = 30

/** `POST /audio/transcriptions`. Throws `ApiError` for requests that OpenAI refuses. */
export async function transcription(call: TranscriptionCall): Promise<Reply> {
  const { faults, settings } = call
  const request = parseTranscription(call.form, faults.lenient === true || !settings.strict)
  const heard = await hear(request.file, call, {
    unrecognised: () => invalidRequest(`Unrecognized file format. Supported formats: ${supported}.`, 'file'),
    undecodable: () =>
      invalidRequest('The audio file could not be decoded or its format is not supported.', 'file'),
  })
  if (request.model.endsWith('-diarize') && heard.seconds > unchunkedSecondsMax && !request.isChunked) {
    const message = 'chunking_strategy is required for diarization models.'
    throw invalidRequest(message, 'chunking_strategy', 'missing_required_parameter')
  }
  return transcriptionReply(request, { ...heard, usageMode: faults.usage })
}
