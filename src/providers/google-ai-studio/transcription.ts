import { pcmInputRate, wavHeader, type CanonicalTranscription } from '../../canonical/audio.ts'
import type { AudioSource, TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { Adapter, CallAt } from '../../canonical/steps.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import type { GeminiModel, GeminiThinking } from '../../formats/text/gemini/quirks.ts'
import { optionsFor, optionsLeftOut } from '../../formats/provider-options.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { encodeBase64Body } from '../../formats/transcription/base64-body.ts'
import {
  beginUpload,
  geminiFiles,
  lookAgain,
  readFile,
  sendUpload,
  type GeminiFile,
  type GeminiSound,
} from './files.ts'
import { readGeminiTranscript } from './transcript.ts'

/** Where hosts of Gemini's contents differ. */
export interface GeminiTranscriptionOptions {
  /** How a model of this name thinks; for a transcript it gets the least possible thinking. */
  modelOf(upstreamModel: string): Pick<GeminiModel, 'thinking'>
}

/**
 * The most bytes of sound inside a request, which may have 20 MB: base64 makes four bytes of three, and the rest of the
 * request needs room too.
 */
export const inlineAudioBytesMax = ((20_000_000 - 40_000) / 4) * 3

/**
 * Gemini's contents as transcription: the sound goes inside the request, or as a file before it, and the model is told
 * to write the spoken text as JSON. Such an answer has no times, because a model that writes times beside its words
 * invents them.
 *
 * When the operator states that a model supports times, speakers or terms, the gateway sends Gemini's own
 * `audioTranscriptionConfig` instead; its answer has times and speakers. Google does not document which models accept
 * it (SDK 3.1.0 has only its types), so no model has it by default.
 */
export function geminiTranscription(options: GeminiTranscriptionOptions): GeminiTranscriptionAdapter {
  return {
    first(asked) {
      const { audio, preferences } = asked.call
      const dropped = optionsLeftOut(preferences, asked.endpoint, isPassable)
      const file = toFile(audio)
      if (file.prefix.length + file.sizeBytes <= inlineAudioBytesMax)
        return {
          type: 'send',
          exchange: { request: inlineRequest(asked, file, options), dropped },
          state: null,
        }
      const request = beginUpload(asked, file)
      return { type: 'send', exchange: { request, dropped }, state: { stage: 'begun' } }
    },
    next(state, reply, asked) {
      if (state === null) {
        const { call, endpoint, context } = asked
        const reading = { call, context, isTimed: hasOwnConfig(endpoint) }
        return { type: 'answer', answer: readGeminiTranscript(reply.bytes, reading) }
      }
      if (state.stage === 'begun')
        return {
          type: 'send',
          exchange: sendUpload(reply, asked, toFile(asked.call.audio)),
          state: { stage: 'sent' },
        }
      const file = readFile(reply)
      if (file.isReady)
        return { type: 'send', exchange: { request: fileRequest(asked, file, options) }, state: null }
      return { type: 'send', exchange: lookAgain(file), state: { stage: 'sent' } }
    },
    readError: readUpstreamFailure,
    resources: geminiFiles,
  }
}

/** The progress of the sound: null when it is inside the request, otherwise the stage of its upload. */
type UploadState = null | { stage: 'begun' | 'sent' }

type GeminiTranscriptionAdapter = Adapter<TranscriptionCall, UploadState, CanonicalTranscription>

type Asked = CallAt<TranscriptionCall>

function inlineRequest(
  asked: Asked,
  file: GeminiSound,
  options: GeminiTranscriptionOptions,
): UpstreamRequest {
  const [before, after] = aroundSound(asked, options)
  const head = `${before}{"inlineData":{"mimeType":${JSON.stringify(file.mimeType)},"data":"`
  return { ...requestOf(asked), body: encodeBase64Body(head, file, `"}}${after}`) }
}

function fileRequest(
  asked: Asked,
  { uri }: GeminiFile,
  options: GeminiTranscriptionOptions,
): UpstreamRequest {
  const [before, after] = aroundSound(asked, options)
  const { mimeType } = toFile(asked.call.audio)
  const sound = JSON.stringify({ fileData: { mimeType, fileUri: uri } })
  return { ...requestOf(asked), body: [`${before}${sound}${after}`] }
}

function requestOf({ endpoint }: Asked): Omit<UpstreamRequest, 'body'> {
  const path = `/models/${encodeURIComponent(endpoint.upstreamModel)}:generateContent`
  return { method: 'POST', path, headers: { 'content-type': 'application/json' } }
}

/** The request's text before and after the part with the sound. */
function aroundSound(
  { call, endpoint }: Asked,
  { modelOf }: GeminiTranscriptionOptions,
): [before: string, after: string] {
  const told = hasOwnConfig(endpoint) ? '' : `,${JSON.stringify({ text: instructionOf(call) })}`
  const rest = JSON.stringify({
    generationConfig: { ...configOf(call, endpoint), ...thinkingOf(modelOf(endpoint.upstreamModel)) },
    ...passedOptions(call, endpoint),
  })
  return ['{"contents":[{"role":"user","parts":[', `${told}]}],${rest.slice(1)}`]
}

/** Whether the operator stated that the model takes the configuration for times, speakers and terms. */
function hasOwnConfig({ audio }: Endpoint): boolean {
  return audio !== null && (audio.wordTimes || audio.diarize || audio.keyterms !== null)
}

function toFile(audio: AudioSource): GeminiSound {
  const file = { prefix: new Uint8Array(0), sizeBytes: audio.sizeBytes, open: () => audio.open() }
  if (audio.format !== 'pcm') return { ...file, mimeType: audio.contentType }
  return { ...file, mimeType: 'audio/wav', prefix: wavHeader(audio.sizeBytes, pcmInputRate) }
}

/** The same form for `json` and `verbose_json`, so that both cost the same. */
const answerSchema = {
  type: 'OBJECT',
  properties: { language: { type: 'STRING' }, text: { type: 'STRING' } },
  required: ['language', 'text'],
  propertyOrdering: ['language', 'text'],
}

function configOf(call: TranscriptionCall, endpoint: Endpoint): Record<string, unknown> {
  const temperature = call.temperature === null ? {} : { temperature: call.temperature }
  if (!hasOwnConfig(endpoint))
    return { ...temperature, responseMimeType: 'application/json', responseSchema: answerSchema }
  return {
    ...temperature,
    audioTranscriptionConfig: {
      ...(call.language === null ? {} : { languageCodes: [call.language] }),
      ...(call.keyterms.length === 0 ? {} : { customVocabulary: call.keyterms }),
      ...(call.granularities.includes('word') || call.diarize ? { wordTimestamp: true } : {}),
      ...(call.diarize ? { diarization: true } : {}),
    },
  }
}

function instructionOf({ language }: TranscriptionCall): string {
  const spoken =
    language === null ? '' : ` The language of the recording has the ISO 639-1 code "${language}".`
  return (
    'Write down every word that is said in this recording, in the language in which it is said, with punctuation. ' +
    'Translate nothing, leave nothing out, and add nothing: no times, no names of speakers, no sounds, no remarks. ' +
    'Where nobody speaks, "text" is empty. "language" is the ISO 639-1 code of the language that is spoken most.' +
    spoken
  )
}

/** A transcript needs no thoughts, which would be billed as output. */
function thinkingOf({ thinking }: Pick<GeminiModel, 'thinking'>): Record<string, unknown> {
  const least = leastThinking(thinking)
  return least === null ? {} : { thinkingConfig: least }
}

function leastThinking(thinking: GeminiThinking): Record<string, unknown> | null {
  switch (thinking.kind) {
    case 'none':
      return null
    case 'level':
      return { thinkingLevel: thinking.levelMin }
    case 'budget':
      return { thinkingBudget: thinking.canBeOff ? 0 : thinking.min }
  }
}

/** Any other option would change the request or its cost. */
const passable: ReadonlySet<string> = new Set(['safetySettings', 'labels'])

function isPassable(name: string): boolean {
  return passable.has(name)
}

function passedOptions(call: TranscriptionCall, endpoint: Endpoint): Record<string, unknown> {
  const given = Object.entries(optionsFor(call.preferences, endpoint))
  return Object.fromEntries(given.filter(([name]) => isPassable(name)))
}
