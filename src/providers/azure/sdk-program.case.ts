import { AzureOpenAI, OpenAI } from 'openai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import { plain, tools } from '../../../test/vendor-sdks/programs/bodies.ts'

const limits = { max_completion_tokens: 100 }

const ofVersion = ({ url, key }: At) =>
  new AzureOpenAI({ apiKey: key, endpoint: url, apiVersion: '2025-04-01-preview', maxRetries: 0 })

export const intentions: Intentions = {
  plain: (at) =>
    new OpenAI({ apiKey: at.key, baseURL: `${at.url}/openai/v1`, maxRetries: 0 }).chat.completions.create({
      model: 'gpt-4o-mini',
      ...limits,
      ...plain,
    }),
  versioned: (at) => ofVersion(at).chat.completions.create({ model: 'gpt-4o-mini', ...limits, ...tools }),
  speech: (at) =>
    ofVersion(at).audio.speech.create({
      model: 'tts-1',
      input: 'Hello there',
      voice: 'alloy',
      response_format: 'mp3',
    }),
  transcript: (at) =>
    ofVersion(at).audio.transcriptions.create({
      model: 'whisper-1',
      file: new File([at.sound], 'audio.wav', { type: 'audio/wav' }),
      response_format: 'json',
    }),
}
