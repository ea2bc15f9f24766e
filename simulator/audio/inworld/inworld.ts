import { ApiError } from '../../errors.ts'
import type { Reply } from '../../reply.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { keyBehind, lengthOf, memberOf, refusalStyle, speedOf, textReply } from '../speech-api.ts'
import type { Saying } from '../speaking.ts'

/** gRPC codes by the HTTP status that comes with them. */
const style = refusalStyle({
  keyOf: ({ authorization }) => keyBehind('Basic', authorization) ?? keyBehind('Bearer', authorization),
  usual: {
    400: { code: '3', message: 'invalid argument' },
    401: { code: '16', message: 'Invalid authorization credentials' },
    403: { code: '7', message: 'permission denied' },
    404: { code: '5', message: 'not found' },
    429: { code: '8', message: 'resource exhausted' },
    500: { code: '13', message: 'internal' },
    503: { code: '14', message: 'unavailable' },
  },
  body: ({ code, message }) => ({ code: Number(code) || 13, message, details: [] }),
})

function refusal(message: string, status = 400, code = 3): ApiError {
  return new ApiError({ status, code: String(code), message })
}

async function speak(asked: AudioAsked): Promise<Reply> {
  const { json } = asked
  const text = memberOf(json, 'text')
  if (typeof text !== 'string' || text === '') throw refusal('text is required')
  const characters = lengthOf(text)
  if (characters > 2_000) throw refusal('text is longer than 2000 characters')
  const voice = memberOf(json, 'voiceId')
  if (typeof voice !== 'string') throw refusal('voiceId is required')
  if (voice.startsWith('missing')) throw refusal(`Unknown voice: ${voice} not found!`, 404, 5)
  const modelId = memberOf(json, 'modelId')
  if (!String(modelId).startsWith('inworld-tts-')) throw refusal('modelId is not known')
  const speed = speedOf(memberOf(json, 'audioConfig', 'speakingRate'), {
    min: 0.5,
    max: 1.5,
    refuse: () => refusal('speakingRate must be between 0.5 and 1.5'),
  })
  const usage = { processedCharactersCount: characters, modelId }
  return textReply(
    asked,
    { text, voice, speed, ...formatOf(asked) },
    {
      contentType: 'application/json',
      wrap: (piece) => lineOf({ audioContent: piece.toString('base64'), usage }),
      end: () => '',
      failure: ({ code = '13', message = 'internal' }) =>
        `${JSON.stringify({ error: { code: Number(code), message } })}\n`,
    },
  )
}

function lineOf(result: object): string {
  return `${JSON.stringify({ result })}\n`
}

function formatOf({ json }: AudioAsked): Pick<Saying, 'sound' | 'rate'> {
  const rate = memberOf(json, 'audioConfig', 'sampleRateHertz') ?? 48_000
  if (typeof rate !== 'number' || rate < 8_000 || rate > 48_000)
    throw refusal('sampleRateHertz is not supported')
  const sounds: Record<string, Saying['sound']> = { MP3: 'mp3', PCM: 's16le', LINEAR16: 'wav', WAV: 'wav' }
  const sound = sounds[String(memberOf(json, 'audioConfig', 'audioEncoding') ?? 'MP3')]
  if (sound === undefined) throw refusal('audioEncoding is not supported')
  return { sound, rate }
}

/** Inworld's speech in lines of JSON. */
export const inworld: AudioApi = {
  slug: 'inworld',
  style,
  uploadBytesMax: 1_000_000,
  modelOf: ({ json }) => String(memberOf(json, 'modelId') ?? '') || null,
  operations: [{ method: 'POST', path: /^\/tts\/v1\/voice:stream$/, answer: speak }],
}
