import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { lettersOf } from '../../random.ts'
import type { SpokenWord } from '../../recognise.ts'
import { eventReply, jsonReply, namedFrame, type Reply } from '../../reply.ts'
import { countTokens, splitTokens } from '../../tokens.ts'
import { distortUsage } from '../../usage.ts'
import { type AudioApi, type AudioAsked, fieldOf, fieldsOf, textMember } from '../audio-api.ts'
import { bearerStyle } from '../bearer-style.ts'
import { type Heard, joined } from '../hearing.ts'
import { mistralSpeech } from './speech.ts'
import {
  checkForm,
  checkTemperature,
  granularitiesOf,
  hearForm,
  type SoundRules,
  switchOf,
} from '../posted-form.ts'

/** The models by their generation. */
const models: Readonly<Record<string, 2 | 3>> = {
  'voxtral-mini-latest': 2,
  'voxtral-mini-2602': 2,
  'voxtral-mini-transcribe-3-0': 3,
  'voxtral-mini-transcribe-3': 3,
  'voxtral-mini-transcribe-latest': 3,
  'voxtral-small-transcribe-latest': 3,
}

const uploadBytesMax = 512 * 1024 * 1024
const termsMax = 100
const urlLengthMax = 2083

/** A refusal with a plain message, as opposed to a failed validation. */
function refused(status: number, message: string, type = 'invalid_request_error'): ApiError {
  return new ApiError({ status, message, type })
}

/** A form that fails validation is refused with 422 and the place of each fault. */
const invalid = (field: string, message: string) =>
  new ApiError({ status: 422, message, param: field, type: 'value_error' })

const rules: SoundRules = {
  fields: {
    model: 'once',
    language: 'once',
    temperature: 'once',
    stream: 'once',
    diarize: 'once',
    context_bias: 'many',
    timestamp_granularities: 'many',
  },
  urlField: 'file_url',
  bytesMax: uploadBytesMax,
  refuse: {
    field: invalid,
    sound: (message) => refused(400, message),
    unreachable: () => refused(400, 'The file could not be downloaded.'),
  },
}

async function transcriptions(asked: AudioAsked): Promise<Reply> {
  const { body, faults } = asked
  const { refuse } = rules
  checkForm(asked, rules)
  const model = fieldOf(body, 'model') ?? ''
  const generation = models[model]
  if (generation === undefined) throw refused(400, `Invalid model: ${model}`, 'invalid_model')
  const language = fieldOf(body, 'language')
  if (language !== null && !/^\w{2}$/.test(language))
    throw invalid('language', 'String should match pattern of two characters')
  if ((fieldOf(body, 'file_url') ?? '').length > urlLengthMax)
    throw invalid('file_url', `URL should have at most ${urlLengthMax} characters`)
  checkTemperature(asked, refuse)
  const terms = termsOf(asked)
  const wanted = granularitiesOf(asked, 'timestamp_granularities', refuse)
  const diarize = switchOf(asked, 'diarize', refuse)
  refuseConflicts({ generation, language, wanted, diarize })
  const heard = await hearForm(asked, rules)
  const text = echo(heard.recognition.utterances.map(joined).join(' '), terms)
  const segments = wanted.any ? segmentsOf(heard, { words: wanted.words, diarize, terms }) : []
  const usage = distortUsage(usageOf(heard, text), faults.usage)
  const told = { model, text, language, segments, usage }
  return switchOf(asked, 'stream', refuse) ? streamed(told) : jsonReply(JSON.stringify(told))
}

/**
 * The events of a stream: the language, the text piece by piece, the segments, and then the whole answer once
 * more.
 */
function streamed(body: { text: string; segments: readonly JsonObject[]; language: string | null }): Reply {
  const { text, segments, language } = body
  return eventReply([
    event('transcription.language', { audio_language: language ?? 'en' }),
    ...splitTokens(text).map((piece) => event('transcription.text.delta', { text: piece })),
    ...segments.map((one) => event('transcription.segment', one)),
    event('transcription.done', body),
  ])
}

function event(type: string, members: object): string {
  return namedFrame(type, { ...members, type })
}

function termsOf({ body }: AudioAsked): string[] {
  const terms = fieldsOf(body, 'context_bias')
  if (terms.some((term) => !/^[^,\s]+$/.test(term)))
    throw invalid('context_bias', 'A term holds neither commas nor white space')
  if (terms.length > termsMax) throw invalid('context_bias', `List should have at most ${termsMax} items`)
  return terms
}

interface Conflicts {
  generation: 2 | 3
  language: string | null
  wanted: ReturnType<typeof granularitiesOf>
  diarize: boolean
}

function refuseConflicts({ generation, language, wanted, diarize }: Conflicts): void {
  if (generation === 3 && wanted.words) throw refused(400, 'Word timestamps are not supported by this model.')
  if (generation === 2 && language !== null && wanted.any)
    throw refused(400, 'timestamp_granularities cannot be combined with language.')
  if (diarize && (!wanted.any || wanted.words))
    throw refused(400, 'diarize needs timestamp_granularities=segment.')
}

/** A key term that was sent with underscores comes back with them in the text. */
function echo(text: string, terms: readonly string[]): string {
  let heard = text
  for (const term of terms) {
    const plain = term.replaceAll('_', ' ').toLowerCase()
    for (let at = heard.toLowerCase().indexOf(plain); at >= 0 && plain !== term.toLowerCase();) {
      const echoed = heard.slice(at, at + plain.length).replaceAll(' ', '_')
      heard = heard.slice(0, at) + echoed + heard.slice(at + plain.length)
      at = heard.toLowerCase().indexOf(plain, at + plain.length)
    }
  }
  return heard
}

function segmentsOf(
  { recognition: { utterances } }: Heard,
  { words, diarize, terms }: { words: boolean; diarize: boolean; terms: readonly string[] },
): JsonObject[] {
  if (words) return utterances.flat().map((word) => segment([word], word.confidence))
  return utterances.map((spoken, index) => ({
    ...segment(spoken, 0.9),
    text: echo(`${index === 0 ? '' : ' '}${joined(spoken)}`, terms),
    speaker_id: diarize ? `speaker_${(index % 2) + 1}` : null,
  }))
}

function segment(words: readonly SpokenWord[], score: number): JsonObject {
  const [start, end] = [words[0]?.start ?? 0, words.at(-1)?.end ?? 0]
  return { type: 'transcription_segment', text: joined(words), start, end, score, speaker_id: null }
}

/** Audio tokens, 25 for a second, are counted only in the total. */
function usageOf({ seconds }: Heard, text: string): JsonObject {
  const [prompt, completion] = [4, countTokens(text)]
  return {
    prompt_audio_seconds: Math.ceil(seconds),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion + Math.ceil(seconds) * 25,
    request_count: 1,
  }
}

/** Mistral's audio. Stored files are not simulated. */
export const mistral: AudioApi = {
  slug: 'mistral',
  style: bearerStyle(
    ({ status, message, type, param, code }) =>
      status === 422
        ? { detail: [{ loc: ['body', param ?? 'body'], msg: message, type }] }
        : { object: 'error', message, type, param, code },
    ({ key }) => ({
      'x-kong-request-id': lettersOf(`request ${key}`, 32).toLowerCase(),
      'x-ratelimit-remaining': '59',
    }),
  ),
  uploadBytesMax,
  modelOf: ({ body, json }) => fieldOf(body, 'model') ?? textMember(json, 'model'),
  operations: [
    { method: 'POST', path: /^\/v1\/audio\/transcriptions$/, answer: transcriptions },
    mistralSpeech,
  ],
}
