/** Formats in which callers ask. */
export type CallerFormat = 'chat' | 'responses' | 'messages'

/** A body with so many of one thing. */
export type Shape = (count: number) => Readonly<Record<string, unknown>>

const times = <Each>(count: number, each: (index: number) => Each): Each[] =>
  Array.from({ length: count }, (_, index) => each(index))
const address = 'https://files.example/a.png'
const schema = { type: 'object', properties: { a: { type: 'string' } } }
const ask = { role: 'user', content: 'go' }

const chatCall = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{"a":1}' } })
const chatResult = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'done' })
const chatOf = (messages: readonly unknown[], more: object = {}) => ({ model: 'a/b', messages, ...more })
const chatTool = (index: number) => ({
  type: 'function',
  function: { name: `look_${index}`, parameters: schema },
})

const chat: Readonly<Record<string, Shape>> = {
  messages: (count) =>
    chatOf(times(count, (index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `m${index}` }))),
  'named messages of one speaker': (count) =>
    chatOf(times(count, (index) => ({ role: 'user', name: `ann${index}`, content: `m${index}` }))),
  instructions: (count) =>
    chatOf([...times(count, (index) => ({ role: 'system', content: `m${index}` })), ask]),
  parts: (count) =>
    chatOf([{ role: 'user', content: times(count, (index) => ({ type: 'text', text: `p${index}` })) }]),
  'marked parts': (count) =>
    chatOf([
      {
        role: 'user',
        content: times(count, (index) => ({
          type: 'text',
          text: `p${index}`,
          cache_control: { type: 'ephemeral' },
        })),
      },
    ]),
  pictures: (count) =>
    chatOf([
      {
        role: 'user',
        content: times(count, () => ({
          type: 'image_url',
          image_url: { url: 'data:image/png;base64,aGVsbG8=' },
        })),
      },
    ]),
  'addresses of pictures': (count) =>
    chatOf([
      { role: 'user', content: times(count, () => ({ type: 'image_url', image_url: { url: address } })) },
    ]),
  'calls and results': (count) =>
    chatOf([
      ask,
      { role: 'assistant', content: null, tool_calls: times(count, (index) => chatCall(`c${index}`)) },
      ...times(count, (index) => chatResult(`c${index}`)),
    ]),
  'calls and results, backwards': (count) =>
    chatOf([
      ask,
      { role: 'assistant', content: null, tool_calls: times(count, (index) => chatCall(`c${index}`)) },
      ...times(count, (index) => chatResult(`c${count - 1 - index}`)),
    ]),
  'calls and results of one id': (count) =>
    chatOf([
      ask,
      { role: 'assistant', content: null, tool_calls: times(count, () => chatCall('c')) },
      ...times(count, () => chatResult('c')),
    ]),
  'calls, each with its result': (count) =>
    chatOf([
      ask,
      ...times(count >> 1, (index) => [
        { role: 'assistant', content: null, tool_calls: [chatCall(`c${index}`)] },
        chatResult(`c${index}`),
      ]).flat(),
    ]),
  'calls without results': (count) =>
    chatOf([
      ask,
      { role: 'assistant', content: null, tool_calls: times(count, (index) => chatCall(`c${index}`)) },
      ask,
    ]),
  'thoughts of one message': (count) =>
    chatOf([
      ask,
      {
        role: 'assistant',
        content: 'so',
        reasoning_details: times(count, (index) => ({
          type: 'reasoning.text',
          text: `t${index}`,
          signature: `s${index}`,
          format: 'anthropic-claude-v1',
          index,
        })),
      },
      ask,
    ]),
  'sealed thoughts of calls': (count) =>
    chatOf([
      ask,
      {
        role: 'assistant',
        content: null,
        tool_calls: times(count, (index) => chatCall(`c${index}`)),
        reasoning_details: times(count, (index) => ({
          type: 'reasoning.encrypted',
          id: `c${index}`,
          data: 'c2VhbA==',
          format: 'google-gemini-v1',
          index,
        })),
      },
      ...times(count, (index) => chatResult(`c${index}`)),
    ]),
  annotations: (count) =>
    chatOf([
      ask,
      {
        role: 'assistant',
        content: 'so',
        annotations: times(count, () => ({
          type: 'url_citation',
          url_citation: { url: address, title: 't', start_index: 0, end_index: 1 },
        })),
      },
      ask,
    ]),
  tools: (count) => chatOf([ask], { tools: times(count, chatTool) }),
  'tools of which many are allowed': (count) =>
    chatOf([ask], {
      tools: times(count, chatTool),
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'auto',
          tools: times(count >> 3, (index) => ({
            type: 'function',
            function: { name: `look_${count - 1 - index}` },
          })),
        },
      },
    }),
  'unknown members': (count) =>
    chatOf(times(count, (index) => ({ role: 'user', content: 'm', [`x${index}`]: 1 }))),
}

const item = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})
const responsesOf = (input: unknown, more: object = {}) => ({ model: 'a/b', input, ...more })
const functionCall = (id: string) => ({
  type: 'function_call',
  call_id: id,
  name: 'look',
  arguments: '{"a":1}',
})
const functionOutput = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'done' })
const responsesTool = (index: number) => ({ type: 'function', name: `look_${index}`, parameters: schema })

const responses: Readonly<Record<string, Shape>> = {
  messages: (count) =>
    responsesOf(times(count, (index) => item(index % 2 === 0 ? 'user' : 'assistant', `m${index}`))),
  instructions: (count) =>
    responsesOf([...times(count, (index) => item('developer', `m${index}`)), item('user', 'go')]),
  parts: (count) =>
    responsesOf([
      { role: 'user', content: times(count, (index) => ({ type: 'input_text', text: `p${index}` })) },
    ]),
  pictures: (count) =>
    responsesOf([
      {
        role: 'user',
        content: times(count, () => ({ type: 'input_image', image_url: 'data:image/png;base64,aGVsbG8=' })),
      },
    ]),
  'addresses of pictures': (count) =>
    responsesOf([
      { role: 'user', content: times(count, () => ({ type: 'input_image', image_url: address })) },
    ]),
  'calls and results': (count) =>
    responsesOf([
      item('user', 'go'),
      ...times(count, (index) => functionCall(`c${index}`)),
      ...times(count, (index) => functionOutput(`c${index}`)),
    ]),
  'calls and results, backwards': (count) =>
    responsesOf([
      item('user', 'go'),
      ...times(count, (index) => functionCall(`c${index}`)),
      ...times(count, (index) => functionOutput(`c${count - 1 - index}`)),
    ]),
  'calls and results of one id': (count) =>
    responsesOf([
      item('user', 'go'),
      ...times(count, () => functionCall('c')),
      ...times(count, () => functionOutput('c')),
    ]),
  'calls, each with its result': (count) =>
    responsesOf([
      item('user', 'go'),
      ...times(count >> 1, (index) => [functionCall(`c${index}`), functionOutput(`c${index}`)]).flat(),
    ]),
  thoughts: (count) =>
    responsesOf([
      ...times(count, (index) => ({
        type: 'reasoning',
        id: `rs_${index}`,
        summary: [{ type: 'summary_text', text: `t${index}` }],
        encrypted_content: 'c2VhbA==',
      })),
      item('user', 'go'),
    ]),
  'paragraphs of a thought': (count) =>
    responsesOf([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: times(count, (index) => ({ type: 'summary_text', text: `t${index}` })),
      },
      item('user', 'go'),
    ]),
  tools: (count) => responsesOf('go', { tools: times(count, responsesTool) }),
  'tools in namespaces': (count) =>
    responsesOf('go', {
      tools: times(count >> 3, (index) => ({
        type: 'namespace',
        name: `space_${index}`,
        description: 'd',
        tools: times(8, responsesTool),
      })),
    }),
}

const turnsOf = (messages: readonly unknown[], more: object = {}) => ({
  model: 'a/b',
  max_tokens: 9,
  messages,
  ...more,
})
const toolUse = (id: string) => ({ type: 'tool_use', id, name: 'look', input: { a: 1 } })
const toolResult = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'done' })
const messagesTool = (index: number) => ({ name: `look_${index}`, input_schema: schema })
const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })

const messages: Readonly<Record<string, Shape>> = {
  messages: (count) =>
    turnsOf(times(count, (index) => (index % 2 === 0 ? user(`m${index}`) : assistant(`m${index}`)))),
  instructions: (count) =>
    turnsOf([ask], { system: times(count, (index) => ({ type: 'text', text: `m${index}` })) }),
  blocks: (count) => turnsOf([user(times(count, (index) => ({ type: 'text', text: `p${index}` })))]),
  'marked blocks': (count) =>
    turnsOf([
      user(
        times(count, (index) => ({ type: 'text', text: `p${index}`, cache_control: { type: 'ephemeral' } })),
      ),
    ]),
  pictures: (count) =>
    turnsOf([
      user(
        times(count, () => ({
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' },
        })),
      ),
    ]),
  'addresses of pictures': (count) =>
    turnsOf([user(times(count, () => ({ type: 'image', source: { type: 'url', url: address } })))]),
  documents: (count) =>
    turnsOf([
      user(
        times(count, (index) => ({
          type: 'document',
          title: `d${index}`,
          source: { type: 'text', media_type: 'text/plain', data: 'words' },
        })),
      ),
    ]),
  'calls and results': (count) =>
    turnsOf([
      ask,
      assistant(times(count, (index) => toolUse(`c${index}`))),
      user(times(count, (index) => toolResult(`c${index}`))),
    ]),
  'calls and results, backwards': (count) =>
    turnsOf([
      ask,
      assistant(times(count, (index) => toolUse(`c${index}`))),
      user(times(count, (index) => toolResult(`c${count - 1 - index}`))),
    ]),
  'calls and results of one id': (count) =>
    turnsOf([ask, assistant(times(count, () => toolUse('c'))), user(times(count, () => toolResult('c')))]),
  'calls, each with its result': (count) =>
    turnsOf([
      ask,
      ...times(count >> 1, (index) => [
        assistant([toolUse(`c${index}`)]),
        user([toolResult(`c${index}`)]),
      ]).flat(),
    ]),
  'parts of a result': (count) =>
    turnsOf([
      ask,
      assistant([toolUse('c')]),
      user([{ ...toolResult('c'), content: times(count, (index) => ({ type: 'text', text: `r${index}` })) }]),
    ]),
  'results and words in turn': (count) =>
    turnsOf([
      ask,
      assistant(times(count >> 1, (index) => toolUse(`c${index}`))),
      user(times(count >> 1, (index) => [toolResult(`c${index}`), { type: 'text', text: 'and' }]).flat()),
    ]),
  thoughts: (count) =>
    turnsOf([
      ask,
      assistant([
        ...times(count, (index) => ({ type: 'thinking', thinking: `t${index}`, signature: 'c2VhbA==' })),
        { type: 'text', text: 'so' },
      ]),
      ask,
    ]),
  citations: (count) =>
    turnsOf([
      ask,
      assistant([
        {
          type: 'text',
          text: 'so',
          citations: times(count, () => ({
            type: 'web_search_result_location',
            url: address,
            title: 't',
            cited_text: 'c',
            encrypted_index: 'e',
          })),
        },
      ]),
      ask,
    ]),
  tools: (count) => turnsOf([ask], { tools: times(count, messagesTool) }),
  'marked tools': (count) =>
    turnsOf([ask], {
      tools: times(count, (index) => ({ ...messagesTool(index), cache_control: { type: 'ephemeral' } })),
    }),
}

/** What callers of a format may send a great many of. */
export const shapes: Readonly<Record<CallerFormat, Readonly<Record<string, Shape>>>> = {
  chat,
  responses,
  messages,
}
