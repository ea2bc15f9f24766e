import {
  pcmInputRate,
  wavHeader,
  type CanonicalTranscription,
  type TranscriptionAdapter,
} from '../../canonical/audio.ts'
import type { AudioSource, TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { oneExchange } from '../../canonical/steps.ts'
import type { GeminiModel, GeminiThinking } from '../gemini/gemini-quirks.ts'
import { optionsFor, optionsLeftOut } from '../provider-options.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import { encodeBase64Body, type EncodedFile } from './base64-body.ts'
import { readGeminiTranscript } from './gemini-transcript.ts'

/** What differs from one host of Gemini's contents to another. */
export interface GeminiTranscriptionOptions {
  /** How a model of this name thinks: for a transcript it is asked to think as little as it can. */
  modelOf(upstreamModel: string): Pick<GeminiModel, 'thinking'>
}

/**
 * Gemini's contents as transcription: the sound is sent inside the request, and the model is told to write down what is
 * said, as JSON. Such an answer has no times, because a model that writes times beside its words makes them up.
 *
 * Where the operator says that a model gives times or speakers, or takes terms, Gemini's own `audioTranscriptionConfig` is sent instead, whose
 * answer has both. Which models accept it is not documented (SDK 3.1.0 has only its types), so that no model has it by itself.
 */
export function geminiTranscription({ modelOf }: GeminiTranscriptionOptions): TranscriptionAdapter {
  return oneExchange<TranscriptionCall, CanonicalTranscription>({
    encode({ call, endpoint }) {
      const { mimeType, file } = toFile(call.audio)
      const sound = `{"inlineData":{"mimeType":${JSON.stringify(mimeType)},"data":"`
      const rest = JSON.stringify({
        generationConfig: { ...configOf(call, endpoint), ...thinkingOf(modelOf(endpoint.upstreamModel)) },
        ...passedOptions(call, endpoint),
      })
      const told = hasOwnConfig(endpoint) ? '' : `,${JSON.stringify({ text: instructionOf(call) })}`
      const body = encodeBase64Body(
        `{"contents":[{"role":"user","parts":[${sound}`,
        file,
        `"}}${told}]}],${rest.slice(1)}`,
      )
      const path = `/models/${encodeURIComponent(endpoint.upstreamModel)}:generateContent`
      return {
        request: { method: 'POST', path, headers: { 'content-type': 'application/json' }, body },
        dropped: optionsLeftOut(call.preferences, endpoint, isPassable),
      }
    },
    decode: ({ bytes }, { call, endpoint, context }) =>
      readGeminiTranscript(bytes, { call, context, isTimed: hasOwnConfig(endpoint) }),
    readError: readUpstreamFailure,
  })
}

/** Whether the operator has said that the model takes the configuration whose answers have times, and terms. */
function hasOwnConfig({ audio }: Endpoint): boolean {
  return audio !== null && (audio.wordTimes || audio.diarize || audio.keyterms !== null)
}

function toFile(audio: AudioSource): { mimeType: string; file: EncodedFile } {
  const file = { prefix: new Uint8Array(0), sizeBytes: audio.sizeBytes, open: () => audio.open() }
  if (audio.format !== 'pcm') return { mimeType: audio.contentType, file }
  return { mimeType: 'audio/wav', file: { ...file, prefix: wavHeader(audio.sizeBytes, pcmInputRate) } }
}

/** The answer's form is the same for `json` and `verbose_json`, so that both cost the same. */
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

/** Writing down needs no thoughts, which would be paid as output. */
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

/** Everything else of the format would change what is asked, or what it costs. */
const passable: ReadonlySet<string> = new Set(['safetySettings', 'labels'])

function isPassable(name: string): boolean {
  return passable.has(name)
}

function passedOptions(call: TranscriptionCall, endpoint: Endpoint): Record<string, unknown> {
  const given = Object.entries(optionsFor(call.preferences, endpoint))
  return Object.fromEntries(given.filter(([name]) => isPassable(name)))
}
