import { ApiError } from '../../errors.ts'
import { frame, jsonReply, type Reply } from '../../reply.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { keyBehind, lengthOf, memberOf, refusalStyle, speedOf, textReply } from '../speech-api.ts'
import { say, type Saying } from '../speaking.ts'

const usual: Record<number, { code: string; message: string }> = {
  400: { code: '2013', message: 'invalid params' },
  401: { code: '1004', message: 'login fail: Please carry the API secret key' },
  402: { code: '1008', message: 'insufficient balance' },
  404: { code: '2013', message: 'invalid params, model' },
  408: { code: '1001', message: 'request timeout' },
  429: { code: '1002', message: 'rate limit exceeded' },
  503: { code: '1033', message: 'system error' },
}

/** Every refusal has HTTP status 200 and a code of MiniMax's. */
const style = refusalStyle({
  keyOf: ({ authorization }) => keyBehind('Bearer', authorization),
  usual,
  body: ({ code, message }, requestId) => ({
    trace_id: requestId,
    base_resp: { status_code: Number(code) || 1000, status_msg: message },
  }),
  headers: (requestId) => ({ 'trace-id': requestId }),
  sentStatus: () => 200,
})

function refusal(code: number, message: string): ApiError {
  return new ApiError({ status: 200, code: String(code), message })
}

const rates = new Set([8_000, 16_000, 22_050, 24_000, 32_000, 44_100])

async function speak(asked: AudioAsked): Promise<Reply> {
  const { json, key } = asked
  const text = memberOf(json, 'text')
  if (typeof text !== 'string' || text === '') throw refusal(2013, 'invalid params, text is empty')
  if (lengthOf(text) > 10_000) throw refusal(2013, 'invalid params, text too long')
  if (!String(memberOf(json, 'model')).startsWith('speech-')) throw refusal(2013, 'invalid params, model')
  if (/\bforbidden\b/.test(text)) throw refusal(1026, 'input sensitive content')
  const voice = memberOf(json, 'voice_setting', 'voice_id')
  if (typeof voice !== 'string' || voice.startsWith('missing')) throw refusal(2054, 'voice id not exist')
  const speed = speedOf(memberOf(json, 'voice_setting', 'speed'), {
    min: 0.5,
    max: 2,
    refuse: () => refusal(2013, 'invalid params, speed'),
  })
  const saying: Saying = { text, voice, speed, ...formatOf(asked) }
  const facts = { trace_id: key, base_resp: { status_code: 0, status_msg: 'success' } }
  const extra = { audio_sample_rate: saying.rate, usage_characters: lengthOf(text) }
  if (memberOf(json, 'stream') !== true) return whole(asked, saying, { ...facts, extra_info: extra })
  const isExcluded = memberOf(json, 'stream_options', 'exclude_aggregated_audio') === true
  const pieces: Buffer[] = []
  return textReply(asked, saying, {
    contentType: 'text/event-stream',
    wrap(piece) {
      if (!isExcluded) pieces.push(piece)
      return frame({ data: { audio: piece.toString('hex'), status: 1 }, ...facts })
    },
    failure: ({ code = '1000', message = 'unknown error' }) =>
      frame({ trace_id: key, base_resp: { status_code: Number(code), status_msg: message } }),
    end: (bytes) =>
      frame({
        data: { audio: Buffer.concat(pieces).toString('hex'), status: 2 },
        extra_info: { ...extra, audio_size: bytes },
        ...facts,
      }),
  })
}

async function whole(asked: AudioAsked, saying: Saying, facts: object): Promise<Reply> {
  const said = await say(saying, asked)
  const pieces: Uint8Array[] = []
  for await (const piece of said.audio) pieces.push(piece)
  const audio = Buffer.concat(pieces).toString('hex')
  return jsonReply(JSON.stringify({ data: { audio, status: 2 }, ...facts }))
}

function formatOf({ json }: AudioAsked): Pick<Saying, 'sound' | 'rate'> {
  const rate = memberOf(json, 'audio_setting', 'sample_rate') ?? 32_000
  if (typeof rate !== 'number' || !rates.has(rate)) throw refusal(2013, 'invalid params, sample_rate')
  const format = memberOf(json, 'audio_setting', 'format') ?? 'mp3'
  if (format === 'mp3') return { sound: 'mp3', rate }
  if (format !== 'pcm') throw refusal(2013, 'invalid params, format')
  return { sound: 's16le', rate }
}

/** MiniMax's speech over HTTP, whole and in events; answers with a link to a file are not simulated. */
export const minimax: AudioApi = {
  slug: 'minimax',
  style,
  uploadBytesMax: 1_000_000,
  modelOf: ({ json }) => String(memberOf(json, 'model') ?? '') || null,
  operations: [{ method: 'POST', path: /^\/v1\/t2a_v2$/, answer: speak }],
}
