import Groq from 'groq-sdk'
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

const clientOf = ({ url, key }: At) => new Groq({ apiKey: key, baseURL: url, maxRetries: 0 })
const fileOf = ({ sound }: At) => new File([sound], 'audio.wav', { type: 'audio/wav' })
const limits = { model: 'openai/gpt-oss-120b', max_completion_tokens: 100 } as const
const thinking = { model: 'qwen/qwen3-32b', max_completion_tokens: 2_000 } as const

export const intentions: Intentions = {
  plain: (at) => clientOf(at).chat.completions.create({ ...limits, ...plain }),
  tuned: (at) => clientOf(at).chat.completions.create({ ...limits, ...tuned }),
  tools: (at) => clientOf(at).chat.completions.create({ ...limits, ...tools }),
  schema: (at) => clientOf(at).chat.completions.create({ ...limits, ...shaped }),
  picture: (at) => clientOf(at).chat.completions.create({ ...limits, ...picture }),
  streamed: (at) => clientOf(at).chat.completions.create({ ...limits, ...plain, stream: true }),
  effort: (at) =>
    clientOf(at).chat.completions.create({
      ...limits,
      max_completion_tokens: 2_000,
      ...effort,
      reasoning_effort: 'low',
    }),
  'no-thought': (at) =>
    clientOf(at).chat.completions.create({ ...thinking, ...noThought, reasoning_effort: 'none' }),
  speech: (at) =>
    clientOf(at).audio.speech.create({
      model: 'canopylabs/orpheus-v1-english',
      input: 'Hello there',
      voice: 'troy',
      response_format: 'wav',
    }),
  transcript: (at) =>
    clientOf(at).audio.transcriptions.create({
      model: 'whisper-large-v3',
      file: fileOf(at),
      response_format: 'json',
    }),
  words: (at) =>
    clientOf(at).audio.transcriptions.create({
      model: 'whisper-large-v3-turbo',
      file: fileOf(at),
      language: 'de',
      response_format: 'verbose_json',
      timestamp_granularities: ['segment', 'word'],
      temperature: 0.3,
    }),
  address: (at) =>
    clientOf(at).audio.transcriptions.create({
      model: 'whisper-large-v3',
      url: at.address,
      language: 'fr',
      response_format: 'verbose_json',
    }),
}
