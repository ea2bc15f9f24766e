import { estimatedSeconds, formatOfBytes, formatOfName, wavSeconds } from './audio-format.ts'
import { invalidRequest } from './errors.ts'
import type { Faults } from './faults.ts'
import { recognisedSecondsMax } from './limits.ts'
import type { MountSettings } from './mounts.ts'
import type { MultipartForm, UploadedFile } from './multipart.ts'
import type { Programs } from './programs.ts'
import { probedSeconds, recognise, type Recognition, scriptedRecognition, scriptedText } from './recognise.ts'
import type { Reply } from './reply.ts'
import { transcriptionReply } from './transcription-body.ts'
import { parseTranscription } from './transcription-request.ts'

/** One transcription call after authentication. */
export interface TranscriptionCall {
  form: MultipartForm
  faults: Faults
  settings: MountSettings
  programs: Programs
  signal: AbortSignal
}

/** `POST /audio/transcriptions`. Throws `ApiError` for what OpenAI refuses. */
export async function transcription(call: TranscriptionCall): Promise<Reply> {
  const { faults, settings } = call
  const request = parseTranscription(call.form, faults.lenient === true || !settings.strict)
  const isScripted =
    faults.scripted === true || faults.text !== undefined || settings.transcription === 'scripted'
  const seconds = await secondsOf(request.file, call, isScripted)
  const recognition =
    (await heardBy(isScripted || seconds > recognisedSecondsMax, request.file, call)) ??
    scriptedRecognition(faults.text ?? scriptedText(seconds), seconds)
  return transcriptionReply(request, { recognition, seconds, usageMode: faults.usage })
}

function heardBy(
  isScripted: boolean,
  file: UploadedFile,
  call: TranscriptionCall,
): Promise<Recognition | null> {
  return isScripted ? Promise.resolve(null) : recognise(file, call.programs, call.signal)
}

/**
 * The true length of the posted audio, so that billing is exercised. A scripted call believes the name of a file whose bytes
 * it does not know, so that tests can post anything; otherwise undecodable audio is refused as OpenAI refuses it.
 */
async function secondsOf(file: UploadedFile, call: TranscriptionCall, isScripted: boolean): Promise<number> {
  const format = formatOfBytes(file.head) ?? formatOfName(file.fileName, file.contentType)
  if (format === null) {
    const supported = 'flac, m4a, mp3, mp4, mpeg, mpga, oga, ogg, wav, webm'
    throw invalidRequest(`Unrecognized file format. Supported formats: ${supported}.`, 'file')
  }
  const known = wavSeconds(file.head, file.bytes)
  if (known !== null) return known
  const probed = await probedSeconds(file, call.programs, call.signal)
  if (probed === null || (isScripted && Number.isNaN(probed))) return estimatedSeconds(format, file.bytes)
  if (!Number.isNaN(probed)) return probed
  throw invalidRequest('The audio file could not be decoded or its format is not supported.', 'file')
}
