import { invalidRequest, modelNotFound } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { type AudioAsked, fieldOf } from './audio-api.ts'
import { type Heard, joined, turnsOf } from './hearing.ts'
import {
  checkForm,
  checkTemperature,
  choiceOf,
  type FieldRules,
  granularitiesOf,
  hearForm,
  languageOf,
  type SoundRules,
  switchOf,
} from './posted-form.ts'
import { languageName, textOf, whisperBody } from './whisper-body.ts'

/** The differences between hosts of Whisper. */
export interface WhisperHost {
  models: readonly string[]
  /** The model used when the caller names none; null when a model is required. */
  usualModel: string | null
  formats: readonly ('json' | 'text' | 'verbose_json')[]
  /** The name of the field for granularities, as sent. */
  granularities: string
  /** Fields besides the ones that every host has. */
  fields: FieldRules
  /** The field `file` may have an address instead of a file. */
  takesAddress: boolean
  bytesMax: number
  /** Allowed languages besides codes, such as `auto`. */
  otherLanguages: readonly string[]
  /** The known languages; absent when any two-letter code is accepted. */
  languages?: ReadonlySet<string>
  /** Adds the speakers when requested; absent when the host cannot. */
  speakers?: (body: JsonObject, heard: Heard) => JsonObject
}

/** `POST /audio/transcriptions` of a host of Whisper. */
export function whisperTranscriptions(host: WhisperHost): (asked: AudioAsked) => Promise<Reply> {
  const rules: SoundRules = {
    fields: {
      model: 'once',
      language: 'once',
      prompt: 'once',
      response_format: 'once',
      temperature: 'once',
      [host.granularities]: 'many',
      ...host.fields,
    },
    urlField: host.takesAddress ? 'file' : null,
    bytesMax: host.bytesMax,
    refuse: {
      field: (field, message) => invalidRequest(message, field),
      sound: (message) => invalidRequest(message, 'file'),
      unreachable: () => invalidRequest('The file could not be fetched from its address.', 'file'),
    },
  }
  return (asked) => answer(asked, host, rules)
}

async function answer(asked: AudioAsked, host: WhisperHost, rules: SoundRules): Promise<Reply> {
  const { refuse } = rules
  checkForm(asked, rules)
  const model = fieldOf(asked.body, 'model') ?? host.usualModel
  if (model === null) throw refuse.field('model', 'A model is needed.')
  if (!host.models.includes(model)) throw modelNotFound(model)
  const { languages: known } = host
  const others = host.otherLanguages
  const language = languageOf(asked, { others, refuse, ...(known === undefined ? {} : { known }) })
  checkTemperature(asked, refuse)
  const { formats: choices } = host
  const format = choiceOf(asked, 'response_format', { choices, usual: 'json', refuse })
  const wanted = granularitiesOf(asked, host.granularities, refuse)
  const diarize = host.speakers !== undefined && switchOf(asked, 'diarize', refuse)
  const heard = await hearForm(asked, rules)
  const text = textOf(heard)
  if (format === 'text') return { status: 200, contentType: 'text/plain; charset=utf-8', body: text }
  if (format === 'json') return jsonReply(JSON.stringify({ text }))
  const named = languageName(language === null || language.length > 2 ? 'en' : language).toLowerCase()
  const long = whisperBody(heard, { language: named, words: wanted.words, segments: wanted.segments })
  return jsonReply(JSON.stringify(diarize ? host.speakers?.(long, heard) : long))
}

/** The speakers of a host that marks each word and each segment with one. */
export function markedSpeakers(body: JsonObject, heard: Heard): JsonObject {
  const turns = turnsOf(heard.recognition)
  const labels = turns.flatMap(({ speaker, words }) => words.map(() => labelOf(speaker)))
  return {
    ...body,
    ...('words' in body ? { words: marked(body['words'], (index) => labels[index]) } : {}),
    ...('segments' in body
      ? { segments: marked(body['segments'], (index) => labelOf(turns[index]?.speaker ?? 0)) }
      : {}),
  }
}

function marked(list: unknown, labelAt: (index: number) => string | undefined): unknown {
  return Array.isArray(list) ? list.map((entry, index) => ({ ...entry, speaker_id: labelAt(index) })) : list
}

/** The speakers of a host with a separate list of them, whose entries contain their words. */
export function listedSpeakers(body: JsonObject, heard: Heard): JsonObject {
  const segments = turnsOf(heard.recognition).map(({ speaker, words }, id) => ({
    id,
    speaker_id: labelOf(speaker),
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    text: joined(words),
    words: words.map(({ word, start, end }) => ({ word, start, end })),
  }))
  return { ...body, speaker_segments: segments }
}

function labelOf(speaker: number): string {
  return `SPEAKER_${String(speaker).padStart(2, '0')}`
}
