import { CohereClientV2 } from 'cohere-ai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import { schema } from '../../../test/vendor-sdks/programs/bodies.ts'

const clientOf = ({ url, key }: At) => new CohereClientV2({ token: key, environment: url, maxRetries: 0 })
const user = (content: string) => ({
  role: 'user' as const,
  content: [{ type: 'text' as const, text: content }],
})
const common = { model: 'command-a-03-2025', maxTokens: 100 }
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = { name: 'weather', description: 'Weather of a city', parameters }

export const intentions: Intentions = {
  plain: (at) => clientOf(at).chat({ ...common, messages: [user('Say hello')] }),
  tuned: (at) =>
    clientOf(at).chat({
      ...common,
      messages: [{ role: 'system', content: [{ type: 'text', text: 'Be brief.' }] }, user('Say hello')],
      temperature: 0.5,
      stopSequences: ['END'],
      seed: 7,
    }),
  tools: (at) =>
    clientOf(at).chat({
      ...common,
      messages: [
        user('How is the weather in Oslo?'),
        {
          role: 'assistant',
          toolCalls: [
            { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          ],
        },
        { role: 'tool', toolCallId: 'call_1', content: 'Rain' },
        user('And tomorrow?'),
      ],
      tools: [{ type: 'function', function: weather }],
      toolChoice: 'REQUIRED',
    }),
  schema: (at) =>
    clientOf(at).chat({
      ...common,
      messages: [user('Name a city')],
      responseFormat: { type: 'json_object', jsonSchema: schema },
    }),
  streamed: async (at) => {
    for await (const _ of await clientOf(at).chatStream({ ...common, messages: [user('Say hello')] }))
      continue
  },
  effort: (at) =>
    clientOf(at).chat({
      model: 'command-a-reasoning-08-2025',
      maxTokens: 2_000,
      messages: [user('Think')],
      thinking: { type: 'enabled' },
    }),
  'no-thought': (at) =>
    clientOf(at).chat({
      model: 'command-a-reasoning-08-2025',
      maxTokens: 2_000,
      messages: [user('Do not think')],
      thinking: { type: 'disabled' },
    }),
  picture: (at) =>
    clientOf(at).chat({
      model: 'command-a-vision-07-2025',
      maxTokens: 100,
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
  embedding: (at) =>
    clientOf(at).embed({
      model: 'embed-v4.0',
      texts: ['Hello'],
      inputType: 'search_query',
      embeddingTypes: ['float'],
      outputDimension: 256,
    }),
}
