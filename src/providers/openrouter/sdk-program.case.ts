import { OpenRouter } from '@openrouter/sdk'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import { schema } from '../../../test/vendor-sdks/programs/bodies.ts'

const clientOf = ({ url, key }: At) => new OpenRouter({ apiKey: key, serverURL: `${url}/api/v1` })
const model = 'openai/gpt-4o-mini'
const limits = { model, maxTokens: 100 }
const user = (content: string) => ({ role: 'user' as const, content })

export const intentions: Intentions = {
  plain: (at) => clientOf(at).chat.send({ chatRequest: { ...limits, messages: [user('Say hello')] } }),
  tuned: (at) =>
    clientOf(at).chat.send({
      chatRequest: {
        ...limits,
        messages: [{ role: 'system', content: 'Be brief.' }, user('Say hello')],
        temperature: 0.5,
        stop: ['END'],
        seed: 7,
      },
    }),
  schema: (at) =>
    clientOf(at).chat.send({
      chatRequest: {
        ...limits,
        messages: [user('Name a city')],
        responseFormat: { type: 'json_schema', jsonSchema: { name: 'city', strict: true, schema } },
      },
    }),
  streamed: (at) =>
    clientOf(at).chat.send({
      chatRequest: {
        ...limits,
        messages: [user('Say hello')],
        stream: true,
        streamOptions: { includeUsage: true },
      },
    }),
  effort: (at) =>
    clientOf(at).chat.send({
      chatRequest: { model, maxTokens: 2_000, messages: [user('Think')], reasoning: { effort: 'low' } },
    }),
  speech: (at) =>
    clientOf(at).tts.createSpeech({
      speechRequest: {
        model: 'openai/gpt-4o-mini-tts',
        input: 'Hello there',
        voice: 'alloy',
        responseFormat: 'mp3',
      },
    }),
  transcript: (at) =>
    clientOf(at).stt.createTranscription({
      sttRequest: {
        model: 'openai/whisper-1',
        inputAudio: { data: Buffer.from(at.sound).toString('base64'), format: 'wav' },
        language: 'de',
        temperature: 0.3,
      },
    }),
}
