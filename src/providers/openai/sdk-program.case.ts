import OpenAI from 'openai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import {
  effort,
  picture,
  plain,
  schema,
  shaped,
  tools,
  tuned,
} from '../../../test/vendor-sdks/programs/bodies.ts'

const clientOf = ({ url, key }: At) => new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
const fileOf = ({ sound }: At) => new File([sound], 'audio.wav', { type: 'audio/wav' })
const limits = { model: 'gpt-4o-mini', max_completion_tokens: 100 }
const spoken = { model: 'gpt-4o-mini-tts', input: 'Hello there', voice: 'alloy' }

export const intentions: Intentions = {
  plain: (at) => clientOf(at).chat.completions.create({ ...limits, ...plain }),
  tuned: (at) => clientOf(at).chat.completions.create({ ...limits, ...tuned }),
  tools: (at) => clientOf(at).chat.completions.create({ ...limits, ...tools }),
  schema: (at) => clientOf(at).chat.completions.create({ ...limits, ...shaped }),
  picture: (at) => clientOf(at).chat.completions.create({ ...limits, ...picture }),
  streamed: (at) =>
    clientOf(at).chat.completions.create({
      ...limits,
      ...plain,
      stream: true,
      stream_options: { include_usage: true },
    }),
  effort: (at) =>
    clientOf(at).chat.completions.create({
      model: 'o4-mini',
      max_completion_tokens: 2_000,
      ...effort,
      reasoning_effort: 'low',
    }),
  responses: (at) =>
    clientOf(at).responses.create({
      model: 'gpt-5.1-codex',
      store: false,
      max_output_tokens: 100,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Name a city' }] }],
      include: ['reasoning.encrypted_content'],
      text: { format: { type: 'json_schema', name: 'city', strict: true, schema } },
    }),
  embedding: (at) =>
    clientOf(at).embeddings.create({
      model: 'text-embedding-3-small',
      input: ['Hello'],
      dimensions: 256,
      encoding_format: 'float',
    }),
  mp3: (at) => clientOf(at).audio.speech.create({ ...spoken, response_format: 'mp3' }),
  pcm: (at) => clientOf(at).audio.speech.create({ ...spoken, response_format: 'pcm', speed: 1.2 }),
  words: (at) =>
    clientOf(at).audio.transcriptions.create({
      model: 'whisper-1',
      file: fileOf(at),
      language: 'de',
      response_format: 'verbose_json',
      timestamp_granularities: ['segment', 'word'],
      temperature: 0.3,
    }),
  transcript: (at) =>
    clientOf(at).audio.transcriptions.create({
      model: 'gpt-4o-transcribe',
      file: fileOf(at),
      response_format: 'json',
    }),
  speakers: (at) =>
    clientOf(at).audio.transcriptions.create({
      model: 'gpt-4o-transcribe-diarize',
      file: fileOf(at),
      response_format: 'diarized_json',
      chunking_strategy: 'auto',
    }),
}
