/** What SDKs that speak OpenAI's chat completions are given; what a vendor names otherwise its own program says. */
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
export const schema = { ...parameters, additionalProperties: false }
const weather = { name: 'weather', description: 'Weather of a city', parameters }

const user = (content: string) => ({ role: 'user' as const, content })

export const plain = { messages: [user('Say hello')] }

export const tuned = {
  messages: [{ role: 'system' as const, content: 'Be brief.' }, user('Say hello')],
  temperature: 0.5,
  stop: ['END'],
  seed: 7,
}

export const tools = {
  messages: [
    user('How is the weather in Oslo?'),
    {
      role: 'assistant' as const,
      content: null,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function' as const,
          function: { name: 'weather', arguments: '{"city":"Oslo"}' },
        },
      ],
    },
    { role: 'tool' as const, tool_call_id: 'call_1', content: 'Rain' },
    user('And tomorrow?'),
  ],
  tools: [{ type: 'function' as const, function: weather }],
  tool_choice: 'required' as const,
}

export const shaped = {
  messages: [user('Name a city')],
  response_format: {
    type: 'json_schema' as const,
    json_schema: { name: 'city', strict: true, schema },
  },
}

export const picture = {
  messages: [
    {
      role: 'user' as const,
      content: [
        { type: 'text' as const, text: 'What is this?' },
        { type: 'image_url' as const, image_url: { url: 'https://8.8.8.8/picture.png' } },
      ],
    },
  ],
}

export const effort = { messages: [user('Think')] }
export const noThought = { messages: [user('Do not think')] }
