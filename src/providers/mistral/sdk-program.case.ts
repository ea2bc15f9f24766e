import { Mistral } from '@mistralai/mistralai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import { schema } from '../../../test/vendor-sdks/programs/bodies.ts'

const clientOf = ({ url, key }: At) => new Mistral({ apiKey: key, serverURL: url })
const fileOf = ({ sound }: At) => new Blob([sound], { type: 'audio/wav' })
const model = 'voxtral-mini-2602'

const weather = {
  name: 'weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const limits = { model: 'mistral-medium-latest', maxTokens: 100 }
const thinking = { model: 'magistral-medium-latest', maxTokens: 2_000 }
const user = (content: string) => ({ role: 'user' as const, content })

export const intentions: Intentions = {
  plain: (at) => clientOf(at).chat.complete({ ...limits, messages: [user('Say hello')] }),
  tuned: (at) =>
    clientOf(at).chat.complete({
      ...limits,
      messages: [{ role: 'system', content: 'Be brief.' }, user('Say hello')],
      temperature: 0.5,
      stop: ['END'],
      randomSeed: 7,
    }),
  tools: (at) =>
    clientOf(at).chat.complete({
      ...limits,
      messages: [
        user('How is the weather in Oslo?'),
        {
          role: 'assistant',
          content: null,
          toolCalls: [{ id: 'call12345', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
        },
        { role: 'tool', toolCallId: 'call12345', content: 'Rain' },
        user('And tomorrow?'),
      ],
      tools: [{ type: 'function', function: weather }],
      toolChoice: 'any',
    }),
  schema: (at) =>
    clientOf(at).chat.complete({
      ...limits,
      messages: [user('Name a city')],
      responseFormat: {
        type: 'json_schema',
        jsonSchema: { name: 'city', strict: true, schemaDefinition: schema },
      },
    }),
  picture: (at) =>
    clientOf(at).chat.complete({
      ...limits,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', imageUrl: { url: 'https://8.8.8.8/picture.png' } },
          ],
        },
      ],
    }),
  streamed: (at) => clientOf(at).chat.stream({ ...limits, messages: [user('Say hello')] }),
  effort: (at) =>
    clientOf(at).chat.complete({ ...thinking, messages: [user('Think')], reasoningEffort: 'low' }),
  'no-thought': (at) =>
    clientOf(at).chat.complete({
      ...thinking,
      messages: [user('Do not think')],
      reasoningEffort: 'none',
    }),
  embedding: (at) =>
    clientOf(at).embeddings.create({
      model: 'codestral-embed',
      inputs: ['Hello'],
      outputDimension: 256,
    }),
  mp3: (at) =>
    clientOf(at).audio.speech.complete({
      model: 'voxtral-mini-tts-3-0',
      input: 'Hello there',
      voiceId: 'voice_478',
      responseFormat: 'mp3',
      stream: true,
    }),
  transcript: (at) =>
    clientOf(at).audio.transcriptions.complete({
      model,
      file: fileOf(at),
      language: 'de',
      temperature: 0.3,
    }),
  words: (at) =>
    clientOf(at).audio.transcriptions.complete({
      model,
      file: fileOf(at),
      timestampGranularities: ['word'],
    }),
  terms: (at) =>
    clientOf(at).audio.transcriptions.complete({
      model,
      file: fileOf(at),
      contextBias: ['headrace', 'sluice'],
    }),
  address: (at) => clientOf(at).audio.transcriptions.complete({ model, fileUrl: at.address, language: 'fr' }),
}
