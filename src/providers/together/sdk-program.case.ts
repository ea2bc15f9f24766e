import Together from 'together-ai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import {
  effort,
  noThought,
  picture,
  plain,
  shaped,
  tools,
  tuned,
} from '../../../test/vendor-sdks/programs/bodies.ts'

const clientOf = ({ url, key }: At) => new Together({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
const fileOf = ({ sound }: At) => new File([sound], 'audio.wav', { type: 'audio/wav' })
const spoken = { model: 'hexgrad/Kokoro-82M', input: 'Hello there', voice: 'af_alloy' } as const
const heard = { model: 'openai/whisper-large-v3' } as const
/** Its type requires a number for each call. */
const numbered = tools.messages.map((message) =>
  message.role !== 'assistant'
    ? message
    : { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, index: 0 })) },
)
const limits = { model: 'openai/gpt-oss-120b', max_tokens: 100 }

export const intentions: Intentions = {
  plain: (at) => clientOf(at).chat.completions.create({ ...limits, ...plain }),
  tuned: (at) => clientOf(at).chat.completions.create({ ...limits, ...tuned }),
  tools: (at) => clientOf(at).chat.completions.create({ ...limits, ...tools, messages: numbered }),
  schema: (at) => clientOf(at).chat.completions.create({ ...limits, ...shaped }),
  picture: (at) => clientOf(at).chat.completions.create({ ...limits, ...picture }),
  streamed: (at) => clientOf(at).chat.completions.create({ ...limits, ...plain, stream: true }),
  effort: (at) =>
    clientOf(at).chat.completions.create({
      ...limits,
      max_tokens: 2_000,
      ...effort,
      reasoning_effort: 'low',
    }),
  'no-thought': (at) =>
    clientOf(at).chat.completions.create({
      model: 'zai-org/GLM-5',
      max_tokens: 2_000,
      ...noThought,
      reasoning: { enabled: false },
    }),
  mp3: (at) => clientOf(at).audio.speech.create({ ...spoken, response_format: 'mp3' }),
  pcm: (at) =>
    clientOf(at).audio.speech.create({
      ...spoken,
      response_format: 'raw',
      response_encoding: 'pcm_s16le',
      sample_rate: 24_000,
    }),
  transcript: (at) =>
    clientOf(at).audio.transcriptions.create({
      ...heard,
      file: fileOf(at),
      language: 'de',
      temperature: 0.3,
      response_format: 'json',
    }),
  detailed: (at) =>
    clientOf(at).audio.transcriptions.create({
      ...heard,
      file: fileOf(at),
      language: 'auto',
      response_format: 'verbose_json',
      timestamp_granularities: ['segment', 'word'],
      diarize: true,
    }),
  address: (at) =>
    clientOf(at).audio.transcriptions.create({
      ...heard,
      file: at.address,
      language: 'fr',
      response_format: 'verbose_json',
    }),
}
