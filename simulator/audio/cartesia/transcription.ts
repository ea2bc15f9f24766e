import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import { type AudioAsked, type AudioOperation, fieldOf, fieldsOf } from '../audio-api.ts'
import { punctuated, turnsOf } from '../hearing.ts'
import { checkForm, hearForm, type SoundRules } from '../posted-form.ts'
import { requestIdOf } from '../request-id.ts'
import { whisperLanguages } from '../whisper-languages.ts'

const languages = whisperLanguages('jw', 'yue')
const models = new Set(['ink-whisper', 'ink-whisper-2025-06-04'])

const refused = (message: string) => new ApiError({ status: 400, message, code: null })

const rules: SoundRules = {
  fields: { model: 'once', language: 'once', 'timestamp_granularities[]': 'many' },
  urlField: null,
  bytesMax: 2_000_000_000,
  samplesOf({ query }) {
    const rate = Number(query.get('sample_rate'))
    return query.get('encoding') === 'pcm_s16le' && rate > 0 ? { rate, channels: 1 } : undefined
  },
  refuse: {
    field: (_field, message) => refused(message),
    sound: refused,
    unreachable: () => refused('The file could not be read.'),
  },
}

/**
 * A form with a file. Without a language Cartesia transcribes the audio as English, whatever language is
 * spoken.
 */
async function transcribe(asked: AudioAsked): Promise<Reply> {
  const { body, key } = asked
  checkForm(asked, rules)
  const model = fieldOf(body, 'model')
  if (!models.has(model ?? ''))
    throw new ApiError({ status: 404, message: 'The model was not found.', code: 'model_not_found' })
  const language = fieldOf(body, 'language')
  if (language !== null && !languages.has(language)) throw refused(`language '${language}' is not supported.`)
  const granularities = fieldsOf(body, 'timestamp_granularities[]')
  if (granularities.some((granularity) => granularity !== 'word'))
    throw refused("timestamp_granularities must be 'word'.")
  const { recognition, seconds } = await hearForm(asked, rules)
  const turns = turnsOf(recognition).map(({ words }) => ({ words, written: punctuated(words) }))
  const words = turns.flatMap((turn) =>
    turn.words.map(({ start, end }, at): JsonObject => ({ word: turn.written[at], start, end })),
  )
  const told = {
    type: 'transcript',
    text: turns.map(({ written }) => written.join(' ')).join(' '),
    language: language ?? 'en',
    duration: seconds,
    ...(granularities.length > 0 ? { words } : {}),
    request_id: requestIdOf(key),
  }
  return {
    ...jsonReply(JSON.stringify(told)),
    headers: { 'x-simulator-transcription': recognition.engine },
  }
}

/** `POST /stt`. */
export const cartesiaHearing: AudioOperation = { method: 'POST', path: /^\/stt$/, answer: transcribe }
