import { speech } from './speech.ts'
import { openAiStyle } from '../../api-style.ts'
import { ApiError, invalidRequest, modelNotFound } from '../../errors.ts'
import { lettersOf } from '../../random.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import { type AudioApi, type AudioAsked, fieldOf, textMember } from '../audio-api.ts'
import { bearerStyle } from '../bearer-style.ts'
import {
  checkForm,
  checkTemperature,
  choiceOf,
  granularitiesOf,
  hearForm,
  languageOf,
  type SoundRules,
} from '../posted-form.ts'
import { languageName, textOf, whisperBody } from '../whisper-body.ts'
import { whisperLanguages } from '../whisper-languages.ts'

const languages = whisperLanguages('jv', 'yue')
const models = new Set(['whisper-large-v3', 'whisper-large-v3-turbo'])
const uploadBytesMax = 100 * 1024 * 1024
const secondsMin = 0.01

const rules: SoundRules = {
  fields: {
    model: 'once',
    language: 'once',
    prompt: 'once',
    response_format: 'once',
    temperature: 'once',
    'timestamp_granularities[]': 'many',
  },
  urlField: 'url',
  bytesMax: uploadBytesMax,
  refuse: {
    field: (_, message) => invalidRequest(message),
    sound: (message) => invalidRequest(message),
    unreachable: () => invalidRequest('The media at the given url could not be retrieved.'),
  },
}

async function transcriptions(asked: AudioAsked): Promise<Reply> {
  const { body, key } = asked
  const { refuse } = rules
  checkForm(asked, rules)
  const model = fieldOf(body, 'model') ?? ''
  if (!models.has(model)) throw modelNotFound(model)
  const language = languageOf(asked, { known: languages, refuse })
  checkTemperature(asked, refuse)
  const choices = ['json', 'text', 'verbose_json'] as const
  const format = choiceOf(asked, 'response_format', { choices, usual: 'json', refuse })
  const wanted = granularitiesOf(asked, 'timestamp_granularities[]', refuse)
  if (wanted.any && format !== 'verbose_json')
    throw refuse.field('timestamp_granularities[]', 'Granularities need response_format verbose_json.')
  const heard = await hearForm(asked, rules)
  if (heard.seconds < secondsMin) throw refuse.sound('The audio is too short; 0.01 seconds are the minimum.')
  // The text begins with a space, and there is no usage.
  const text = ` ${textOf(heard)}`
  if (format === 'text') return { status: 200, contentType: 'text/plain; charset=UTF-8', body: text }
  const told = { language: languageName(language ?? 'en'), words: wanted.words, segments: wanted.segments }
  const long = format === 'verbose_json' ? whisperBody(heard, told) : {}
  const id = `req_${lettersOf(`request ${key}`, 26).toLowerCase()}`
  return jsonReply(JSON.stringify({ ...long, text, x_groq: { id } }))
}

/** Refusals name no parameter and often have no code. Only a limit states the wait before a retry. */
const style = bearerStyle(
  ({ message, type, code }) => ({ error: { message, type, ...(code === null ? {} : { code }) } }),
  (subject) => ({ ...openAiStyle.headers(subject), 'x-groq-region': 'simulated' }),
)

/** Groq's audio with the limits of its paid tier. */
export const groq: AudioApi = {
  slug: 'groq',
  style: {
    ...style,
    errorOf: (fault) =>
      fault.status === 498
        ? new ApiError({
            status: 498,
            type: 'flex_tier_capacity',
            code: 'capacity_exceeded',
            message: 'The flex tier has no capacity left. Try again later.',
          })
        : style.errorOf(fault),
  },
  uploadBytesMax,
  modelOf: ({ body, json }) => fieldOf(body, 'model') ?? textMember(json, 'model'),
  operations: [
    { method: 'POST', path: /^\/openai\/v1\/audio\/transcriptions$/, answer: transcriptions },
    { method: 'POST', path: /^\/openai\/v1\/audio\/speech$/, answer: speech },
  ],
}
