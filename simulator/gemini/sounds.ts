import { hear, type Heard, joined, type Listening, punctuated, turnsOf } from '../audio/hearing.ts'
import { type ApiError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { createFolder, FileSpool, type UploadFolder } from '../uploaded-file.ts'
import { type Content, isSound, textOf } from './contents.ts'
import { fileOf } from './files.ts'
import type { KeptFiles } from './kept-files.ts'
import type { ContentRequest, TranscriptionConfig } from './request.ts'

/** The sounds of a request. */
export interface Sounds {
  /** The tokens of the sounds, by their true lengths. */
  tokens: number
  /** The transcript, if the request asks for one; otherwise null. */
  heard: Heard | null
}

/** Tokens of sound on this API, whatever its rate and channels. */
const tokensPerSecond = 32

/**
 * Listens to the sounds of a request, or measures only their lengths when no transcript is requested. Throws 400 for a
 * model without hearing, and for bytes that are not sound.
 */
export async function soundsOf(
  request: ContentRequest,
  listening: Listening,
  files: KeptFiles,
): Promise<Sounds> {
  const parts = request.contents.flatMap((content) => content.parts).filter(isSound)
  if (parts.length > 0 && request.model.isDeaf === true)
    throw invalidRequest(`Audio input modality is not enabled for models/${request.model.id}`)
  const isWanted = parts.length > 0 && wantsWords(request)
  const folder = createFolder()
  try {
    const all: Heard[] = []
    for (const part of parts) {
      const file = isObject(part['fileData']) ? fileOf(part['fileData']['fileUri'], files) : null
      all.push(file?.heard ?? (await heardIn(part, folder, { listening, isWanted })))
    }
    const tokens = all.reduce((sum, { seconds }) => sum + Math.ceil(seconds * tokensPerSecond), 0)
    return { tokens, heard: isWanted ? (all.at(-1) ?? null) : null }
  } finally {
    await folder.remove()
  }
}

/** A real model follows any instruction; this one recognises only certain words for a transcript. */
function wantsWords({ contents, transcription }: ContentRequest): boolean {
  return transcription !== null || contents.some((content) => isToldToWrite(content))
}

function isToldToWrite(content: Content): boolean {
  return content.parts.some(isSound) && /transcri|writ(?:e|ten) down/i.test(textOf(content))
}

function unreadable(): ApiError {
  return invalidRequest('Request contains an invalid argument.')
}

async function heardIn(
  part: JsonObject,
  folder: UploadFolder,
  { listening, isWanted }: { listening: Listening; isWanted: boolean },
): Promise<Heard> {
  const { mimeType, data } = isObject(part['inlineData']) ? part['inlineData'] : {}
  const spool = new FileSpool(folder)
  await spool.write(Buffer.from(String(data), 'base64'))
  const file = await spool.finish({ name: '', fileName: '', contentType: String(mimeType) })
  const faults = isWanted ? listening.faults : { ...listening.faults, scripted: true }
  return hear(file, { ...listening, faults }, { unrecognised: unreadable, undecodable: unreadable })
}

/** The transcript as the model writes it: in the requested schema, otherwise as plain text. */
export function writtenDown({ recognition }: Heard, { answerSchema }: ContentRequest): string {
  const text = turnsOf(recognition)
    .map(({ words }) => punctuated(words).join(' '))
    .join(' ')
  if (answerSchema === null) return text
  const properties = isObject(answerSchema['properties']) ? answerSchema['properties'] : {}
  const known: JsonObject = { language: 'en', text, transcript: text }
  return JSON.stringify(
    Object.fromEntries(Object.keys(properties).map((name) => [name, known[name] ?? null])),
  )
}

/** The parts of an answer to `audioTranscriptionConfig`: a part for each turn of a speaker. */
export function transcriptParts({ recognition }: Heard, config: TranscriptionConfig): JsonObject[] {
  return turnsOf(recognition).map(({ words, speaker }) => ({
    audioTranscription: {
      text: punctuated(words).join(' '),
      languageCode: 'en-US',
      ...(config.diarization ? { speakerLabel: `spk_${speaker + 1}` } : {}),
      startOffset: offset(words[0]?.start ?? 0),
      endOffset: offset(words.at(-1)?.end ?? 0),
      ...(config.wordTimestamp
        ? {
            words: words.map(({ start, end }, at) => ({
              word: punctuated(words)[at],
              startOffset: offset(start),
              endOffset: offset(end),
            })),
          }
        : {}),
    },
  }))
}

/** The tokens of a turn. */
export function transcriptText({ recognition }: Heard): string {
  return recognition.utterances.map(joined).join(' ')
}

function offset(seconds: number): string {
  return `${Number(seconds.toFixed(3))}s`
}
