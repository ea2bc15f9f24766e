import type { Ask } from './vendor.ts'

/** Speech of one short text. */
export function speech(upstream: string, body: Record<string, unknown>, more: Partial<Ask> = {}): Ask {
  return { path: '/audio/speech', upstream, body: { input: 'Hello there', ...body }, ...more }
}

/** The text of the sound that both sides have, or of an address. */
export function transcription(
  upstream: string,
  body: Record<string, unknown> = {},
  more: Partial<Ask> = {},
): Ask {
  return { path: '/audio/transcriptions', upstream, body, ...more }
}

/** A public address, which the gateway passes on and nobody here fetches: a fake says that nothing is there. */
export const soundAddress = 'http://8.8.8.8/sound.wav'

/** The text of what stands at an address, which the vendor fetches itself. */
export function ofAddress(
  upstream: string,
  body: Record<string, unknown> = {},
  more: Partial<Ask> = {},
): Ask {
  const input_audio = { url: soundAddress, format: 'wav' }
  return transcription(upstream, { input_audio, ...body }, more)
}

/** Words, speakers and terms: all that most vendors have. */
export const inDetail = {
  language: 'de',
  response_format: 'verbose_json',
  timestamp_granularities: ['word'],
  diarize: true,
  keyterms: ['head race', 'sluice'],
}

/** Without speakers and terms. */
export const withWords = {
  language: 'de',
  response_format: 'verbose_json',
  timestamp_granularities: ['word'],
}

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = { name: 'weather', description: 'Weather of a city', parameters }
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }

/** What a caller of chat completions asks, by the names that programs have too. */
const bodies = {
  plain: { messages: [{ role: 'user', content: 'Say hello' }], max_tokens: 100 },
  tuned: {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Say hello' },
    ],
    max_tokens: 100,
    temperature: 0.5,
    stop: ['END'],
    seed: 7,
  },
  tools: {
    messages: [
      { role: 'user', content: 'How is the weather in Oslo?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
      { role: 'user', content: 'And tomorrow?' },
    ],
    tools: [{ type: 'function', function: weather }],
    tool_choice: 'required',
    max_tokens: 100,
  },
  schema: {
    messages: [{ role: 'user', content: 'Name a city' }],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'city', strict: true, schema: { ...parameters, additionalProperties: false } },
    },
    max_tokens: 100,
  },
  picture: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'https://8.8.8.8/picture.png' } },
        ],
      },
    ],
    max_tokens: 100,
  },
  streamed: {
    messages: [{ role: 'user', content: 'Say hello' }],
    max_tokens: 100,
    stream: true,
    stream_options: { include_usage: true },
  },
  effort: {
    messages: [{ role: 'user', content: 'Think' }],
    max_tokens: 2_000,
    reasoning: { effort: 'low' },
  },
  'no-thought': {
    messages: [{ role: 'user', content: 'Do not think' }],
    max_tokens: 2_000,
    reasoning: { effort: 'none' },
  },
} satisfies Record<string, Record<string, unknown>>

/** One chat of these for a model. */
export function chat(upstream: string, name: keyof typeof bodies, more: Partial<Ask> = {}): Ask {
  return { path: '/chat/completions', upstream, body: bodies[name], ...more }
}

/** Several chats for one model. */
export function chats(upstream: string, names: readonly (keyof typeof bodies)[]): Record<string, Ask> {
  return Object.fromEntries(names.map((name) => [name, chat(upstream, name)]))
}
