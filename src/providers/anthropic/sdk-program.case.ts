import Anthropic from '@anthropic-ai/sdk'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'
import { schema } from '../../../test/vendor-sdks/programs/bodies.ts'

const clientOf = ({ url, key }: At) => new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 })
const limits = { model: 'claude-haiku-4-5', max_tokens: 100 }
const user = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
/** The newest version of the API does not have this member. */
const sampled = { temperature: 0.5 }
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
}

export const intentions: Intentions = {
  plain: (at) => clientOf(at).messages.create({ ...limits, messages: [user('Say hello')] }),
  tuned: (at) =>
    clientOf(at).messages.create({
      ...limits,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [user('Say hello')],
      stop_sequences: ['END'],
      ...sampled,
    }),
  tools: (at) =>
    clientOf(at).messages.create({
      ...limits,
      messages: [
        user('How is the weather in Oslo?'),
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: 'Rain' },
            { type: 'text', text: 'And tomorrow?' },
          ],
        },
      ],
      tools: [{ name: 'weather', description: 'Weather of a city', input_schema: parameters }],
      tool_choice: { type: 'any' },
    }),
  schema: (at) =>
    clientOf(at).messages.create({
      ...limits,
      messages: [user('Name a city')],
      output_config: { format: { type: 'json_schema', schema } },
    }),
  picture: (at) =>
    clientOf(at).messages.create({
      ...limits,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'url', url: 'https://8.8.8.8/picture.png' } },
          ],
        },
      ],
    }),
  streamed: (at) => clientOf(at).messages.create({ ...limits, messages: [user('Say hello')], stream: true }),
  effort: (at) =>
    clientOf(at).messages.create({
      model: 'claude-opus-5',
      max_tokens: 2_000,
      messages: [user('Think')],
      output_config: { effort: 'low' },
      thinking: { type: 'adaptive' },
    }),
  'no-thought': (at) =>
    clientOf(at).messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 2_000,
      messages: [user('Do not think')],
      thinking: { type: 'disabled' },
    }),
}
