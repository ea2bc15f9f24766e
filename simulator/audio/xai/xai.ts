import { type ApiStyle, bearerKeyOf } from '../../api-style.ts'
import { ApiError } from '../../errors.ts'
import { requestIdOf } from '../request-id.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import { type AudioApi, type AudioAsked, fieldOf } from '../audio-api.ts'
import { bearerStyle } from '../bearer-style.ts'
import { checkForm, hearForm, languageOf, type SoundRules, switchOf } from '../posted-form.ts'
import { turnsOf } from '../hearing.ts'
import { textOf } from '../whisper-body.ts'
import { xaiSpeech } from './speech.ts'

const uploadBytesMax = 1024 * 1024 * 1024

const refused = (message: string) => new ApiError({ status: 400, message, code: 'plain' })

const rules: SoundRules = {
  fields: {
    model: 'once',
    language: 'once',
    format: 'once',
    diarize: 'once',
    keyterm: 'many',
    filler_words: 'once',
    multichannel: 'once',
    channels: 'once',
    audio_format: 'once',
    sample_rate: 'once',
  },
  urlField: null,
  isFileLast: true,
  bytesMax: uploadBytesMax,
  samplesOf,
  refuse: {
    field: (_, message) => refused(message),
    sound: refused,
    unreachable: () => refused('unreachable'),
  },
}

function samplesOf({ body }: AudioAsked) {
  const format = fieldOf(body, 'audio_format')
  if (format === null) return undefined
  const rate = Number(fieldOf(body, 'sample_rate') ?? Number.NaN)
  if (format !== 'pcm') throw refused(`audio_format ${format} is not played here`)
  if (!(rate >= 8000 && rate <= 48_000)) throw refused('sample_rate is needed with audio_format')
  return { rate, channels: 1 }
}

async function stt(asked: AudioAsked): Promise<Reply> {
  const { refuse } = rules
  checkForm(asked, rules)
  // This is another gateway's name for its first model; the API itself does not know the name.
  if (fieldOf(asked.body, 'model') === 'grok-stt') throw refused('The model grok-stt does not exist')
  const language = languageOf(asked, { refuse })
  for (const name of ['filler_words', 'multichannel']) switchOf(asked, name, refuse)
  if (switchOf(asked, 'format', refuse) && language === null) throw refused('format needs a language')
  const diarize = switchOf(asked, 'diarize', refuse)
  const heard = await hearForm(asked, rules)
  const words = turnsOf(heard.recognition).flatMap(({ speaker, words: spoken }) =>
    spoken.map(({ word, start, end }) => ({ text: word, start, end, ...(diarize ? { speaker } : {}) })),
  )
  const told = { text: textOf(heard), language: language ?? 'en', duration: heard.seconds, words }
  return jsonReply(JSON.stringify(told))
}

const plain = bearerStyle(
  ({ status, message, type, code }) => {
    if (code === 'plain') return { error: message }
    if (status < 500) return { code: code ?? 'invalid-argument', error: message }
    return { error: { message, type, param: null, code } }
  },
  ({ key }) => ({ 'x-trace-id': requestIdOf(key) }),
)

/** The common style, except that xAI answers a bad key with 400. */
const style: ApiStyle = {
  ...plain,
  authenticate(headers) {
    const key = bearerKeyOf(headers.authorization)
    if (key !== null && !key.startsWith('bad-key')) return
    const message = 'Incorrect API key provided: ba***1. Keys are shown in the console.'
    throw new ApiError({ status: 400, code: 'invalid-argument', message })
  },
}

/** xAI's own audio. Its WebSockets are not simulated. */
export const xai: AudioApi = {
  slug: 'xai',
  style,
  uploadBytesMax,
  modelOf: () => null,
  operations: [{ method: 'POST', path: /^\/v1\/stt$/, answer: stt }, xaiSpeech],
}
