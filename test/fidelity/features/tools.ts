import { models } from '../lab.ts'
import { approximated, carried, dropped, refused, type AskedRow, type Json } from '../table.ts'

// Tools, their calls and their results. Expectations follow the formats' documents and ADR 8.

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const user = (content: unknown): Json => ({ role: 'user', content })
const text = (value: string): Json => ({ type: 'text', text: value })
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
const pngUrl = 'data:image/png;base64,iVBORw0KGgo='

const chatTool = (name: string, more: Json = {}): Json => ({
  type: 'function',
  function: { name, description: 'It tells.', parameters: schema, ...more },
})
const flatTool = (name: string, more: Json = {}): Json => ({
  type: 'function',
  name,
  description: 'It tells.',
  parameters: schema,
  ...more,
})
const blockTool = (name: string, more: Json = {}): Json => ({
  name,
  description: 'It tells.',
  input_schema: schema,
  ...more,
})

const chatTools = { tools: [chatTool('a'), chatTool('b')] }
const flatTools = { tools: [flatTool('a'), flatTool('b')] }
const blockTools = { tools: [blockTool('a'), blockTool('b')] }

const chatCall = (id: string, name: string, args: string): Json => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const called = (id: string, name: string, input: Json): Json => ({ type: 'tool_use', id, name, input })

/** A row about the choice of tools, told in each format's words. */
function choiceRow(
  id: string,
  title: string,
  words: { chat: unknown; flat: unknown; block: Json },
): AskedRow {
  const toChat = carried({ tool_choice: words.chat })
  const toMessages = carried({ tool_choice: words.block })
  return {
    kind: 'asked',
    id,
    title,
    cells: {
      chat: { ask: { ...chatTools, tool_choice: words.chat }, toChat, toMessages },
      responses: { ask: { ...flatTools, tool_choice: words.flat }, toChat, toMessages },
      messages: { ask: { ...blockTools, tool_choice: words.block }, toChat, toMessages },
    },
  }
}

export const toolRows: readonly AskedRow[] = [
  {
    kind: 'asked',
    id: 'T1',
    title: 'Declarations, strict and not',
    cells: {
      chat: {
        ask: { tools: [chatTool('a', { strict: true }), chatTool('b')] },
        toChat: carried({ tools: [chatTool('a', { strict: true }), chatTool('b')] }),
        toMessages: carried(
          { tools: [blockTool('a', { strict: true }), blockTool('b')] },
          { absent: ['tools.1.strict'] },
        ),
      },
      responses: {
        ask: { tools: [flatTool('a', { strict: true }), flatTool('b')] },
        toChat: carried({ tools: [chatTool('a', { strict: true }), chatTool('b')] }),
        toMessages: carried({ tools: [blockTool('a', { strict: true }), blockTool('b')] }),
      },
      messages: {
        ask: { tools: [blockTool('a', { strict: true }), blockTool('b')] },
        toChat: carried({ tools: [chatTool('a', { strict: true }), chatTool('b')] }),
        toMessages: carried({ tools: [blockTool('a', { strict: true }), blockTool('b')] }),
      },
    },
  },
  choiceRow('T2', 'The model may choose', { chat: 'auto', flat: 'auto', block: { type: 'auto' } }),
  choiceRow('T3', 'Some tool must be called', { chat: 'required', flat: 'required', block: { type: 'any' } }),
  choiceRow('T4', 'No tool may be called', { chat: 'none', flat: 'none', block: { type: 'none' } }),
  choiceRow('T5', 'One named tool must be called', {
    chat: { type: 'function', function: { name: 'b' } },
    flat: { type: 'function', name: 'b' },
    block: { type: 'tool', name: 'b' },
  }),
  {
    kind: 'asked',
    id: 'T6',
    title: 'Some of the tools are allowed',
    cells: {
      chat: {
        ask: {
          ...chatTools,
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] },
          },
        },
        toChat: carried({
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] },
          },
        }),
        toMessages: carried(
          { tools: [blockTool('b')], tool_choice: { type: 'any' } },
          { note: 'the others are left out' },
        ),
      },
      responses: {
        ask: {
          ...flatTools,
          tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'b' }] },
        },
        toChat: carried({
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'b' } }] },
          },
        }),
        toMessages: carried(
          { tools: [blockTool('b')], tool_choice: { type: 'auto' } },
          { note: 'the others are left out' },
        ),
      },
      messages: { cannotAsk: 'who wants fewer tools sends fewer' },
    },
  },
  {
    kind: 'asked',
    id: 'T7',
    title: 'One call at a time',
    cells: {
      chat: {
        ask: { ...chatTools, parallel_tool_calls: false },
        toChat: carried({ parallel_tool_calls: false }),
        toMessages: carried({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
      },
      responses: {
        ask: { ...flatTools, parallel_tool_calls: false },
        toChat: carried({ parallel_tool_calls: false }),
        toMessages: carried({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
      },
      messages: {
        ask: { ...blockTools, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        toChat: carried({ parallel_tool_calls: false, tool_choice: 'auto' }),
        toMessages: carried({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T8',
    title: 'Two calls in one turn, and their results',
    cells: {
      chat: {
        ask: {
          ...chatTools,
          messages: [
            user('Hi.'),
            {
              role: 'assistant',
              content: null,
              tool_calls: [chatCall('c1', 'a', '{"city":"Oslo"}'), chatCall('c2', 'b', '')],
            },
            { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
            { role: 'tool', tool_call_id: 'c2', content: 'rain' },
            user('So?'),
          ],
        },
        toChat: carried({
          messages: [
            user('Hi.'),
            {
              role: 'assistant',
              tool_calls: [chatCall('c1', 'a', '{"city":"Oslo"}'), chatCall('c2', 'b', '')],
            },
            { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
            { role: 'tool', tool_call_id: 'c2', content: 'rain' },
            user('So?'),
          ],
        }),
        toMessages: carried({
          messages: [
            user([text('Hi.')]),
            { role: 'assistant', content: [called('c1', 'a', { city: 'Oslo' }), called('c2', 'b', {})] },
            user([
              { type: 'tool_result', tool_use_id: 'c1', content: 'sunny' },
              { type: 'tool_result', tool_use_id: 'c2', content: 'rain' },
              text('So?'),
            ]),
          ],
        }),
      },
      responses: {
        ask: {
          ...flatTools,
          input: [
            user('Hi.'),
            { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
            { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{}' },
            { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
            { type: 'function_call_output', call_id: 'c2', output: 'rain' },
            user('So?'),
          ],
        },
        toChat: carried({
          messages: [
            user('Hi.'),
            {
              role: 'assistant',
              tool_calls: [chatCall('c1', 'a', '{"city":"Oslo"}'), chatCall('c2', 'b', '{}')],
            },
            { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
            { role: 'tool', tool_call_id: 'c2', content: 'rain' },
            user('So?'),
          ],
        }),
        toMessages: carried({
          messages: [
            user([text('Hi.')]),
            { role: 'assistant', content: [called('c1', 'a', { city: 'Oslo' }), called('c2', 'b', {})] },
            user([
              { type: 'tool_result', tool_use_id: 'c1', content: 'sunny' },
              { type: 'tool_result', tool_use_id: 'c2', content: 'rain' },
              text('So?'),
            ]),
          ],
        }),
      },
      messages: {
        ask: {
          ...blockTools,
          messages: [
            user('Hi.'),
            { role: 'assistant', content: [called('c1', 'a', { city: 'Oslo' }), called('c2', 'b', {})] },
            user([
              { type: 'tool_result', tool_use_id: 'c1', content: 'sunny' },
              { type: 'tool_result', tool_use_id: 'c2', content: [text('rain')] },
              text('So?'),
            ]),
          ],
        },
        toChat: carried({
          messages: [
            user('Hi.'),
            {
              role: 'assistant',
              tool_calls: [chatCall('c1', 'a', '{"city":"Oslo"}'), chatCall('c2', 'b', '{}')],
            },
            { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
            { role: 'tool', tool_call_id: 'c2', content: 'rain' },
            user('So?'),
          ],
        }),
        toMessages: carried({
          messages: [{}, { content: [{ id: 'c1' }, { id: 'c2' }] }, { content: [{}, {}, text('So?')] }],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T9',
    title: 'Arguments in the history that are no JSON',
    cells: {
      chat: {
        ask: {
          ...chatTools,
          messages: [
            user('Hi.'),
            { role: 'assistant', content: null, tool_calls: [chatCall('c1', 'a', '{"city":')] },
            { role: 'tool', tool_call_id: 'c1', content: 'broken' },
          ],
        },
        toChat: carried({ messages: [{}, { tool_calls: [chatCall('c1', 'a', '{"city":')] }, {}] }),
        toMessages: carried(
          { messages: [{}, { content: [called('c1', 'a', { _raw: '{"city":' })] }, {}] },
          { note: 'as the member `_raw`' },
        ),
      },
      responses: {
        ask: {
          ...flatTools,
          input: [
            user('Hi.'),
            { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":' },
            { type: 'function_call_output', call_id: 'c1', output: 'broken' },
          ],
        },
        toChat: carried({ messages: [{}, { tool_calls: [chatCall('c1', 'a', '{"city":')] }, {}] }),
        toMessages: carried(
          { messages: [{}, { content: [called('c1', 'a', { _raw: '{"city":' })] }, {}] },
          { note: 'as the member `_raw`' },
        ),
      },
      messages: { cannotAsk: 'arguments are objects' },
    },
  },
  {
    kind: 'asked',
    id: 'T10',
    title: 'An image in a result',
    cells: {
      chat: { cannotAsk: 'results are texts' },
      responses: {
        ask: {
          ...flatTools,
          input: [
            user('Hi.'),
            { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' },
            {
              type: 'function_call_output',
              call_id: 'c1',
              output: [
                { type: 'input_text', text: 'Look:' },
                { type: 'input_image', image_url: pngUrl },
              ],
            },
          ],
        },
        toChat: approximated('the image follows as the user’s', ['input[].output'], {
          messages: [
            user('Hi.'),
            {},
            { role: 'tool', tool_call_id: 'c1', content: 'Look:' },
            user([text('From the tool call c1:'), { type: 'image_url', image_url: { url: pngUrl } }]),
          ],
        }),
        toMessages: carried({
          messages: [
            {},
            {},
            user([{ type: 'tool_result', tool_use_id: 'c1', content: [text('Look:'), png] }]),
          ],
        }),
      },
      messages: {
        ask: {
          ...blockTools,
          messages: [
            user('Hi.'),
            { role: 'assistant', content: [called('c1', 'a', {})] },
            user([{ type: 'tool_result', tool_use_id: 'c1', content: [text('Look:'), png] }]),
          ],
        },
        toChat: approximated('the image follows as the user’s', ['messages[].content[].content'], {
          messages: [
            user('Hi.'),
            {},
            { role: 'tool', tool_call_id: 'c1', content: 'Look:' },
            user([text('From the tool call c1:'), { type: 'image_url', image_url: { url: pngUrl } }]),
          ],
        }),
        toMessages: carried({ messages: [{}, {}, { content: [{ content: [text('Look:'), png] }] }] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T11',
    title: 'A result that says the tool failed',
    cells: {
      chat: { cannotAsk: 'results have no flag' },
      responses: { cannotAsk: 'results have no flag' },
      messages: {
        ask: {
          ...blockTools,
          messages: [
            user('Hi.'),
            { role: 'assistant', content: [called('c1', 'a', {})] },
            user([{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content: 'No such city.' }]),
          ],
        },
        toChat: approximated('told in words', ['messages[].content[].is_error'], {
          messages: [
            {},
            {},
            { role: 'tool', tool_call_id: 'c1', content: 'The tool failed:\nNo such city.' },
          ],
        }),
        toMessages: carried({
          messages: [{}, {}, { content: [{ is_error: true, content: 'No such city.' }] }],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T12',
    title: 'Custom tools, whose input is free text',
    cells: {
      chat: {
        ask: {
          tools: [
            { type: 'custom', custom: { name: 'a', description: 'It runs.', format: { type: 'text' } } },
          ],
        },
        toChat: carried({
          tools: [
            { type: 'custom', custom: { name: 'a', description: 'It runs.', format: { type: 'text' } } },
          ],
        }),
        toMessages: refused('tools'),
      },
      responses: {
        ask: { tools: [{ type: 'custom', name: 'a', description: 'It runs.', format: { type: 'text' } }] },
        toChat: carried({
          tools: [
            { type: 'custom', custom: { name: 'a', description: 'It runs.', format: { type: 'text' } } },
          ],
        }),
        toMessages: refused('tools'),
      },
      messages: { cannotAsk: 'the input of a tool is an object' },
    },
  },
  {
    kind: 'asked',
    id: 'T13',
    title: 'Custom tools whose input follows a grammar',
    cells: {
      chat: {
        ask: {
          tools: [
            {
              type: 'custom',
              custom: {
                name: 'a',
                format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+' } },
              },
            },
          ],
        },
        toChat: carried({
          tools: [
            {
              type: 'custom',
              custom: {
                name: 'a',
                format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+' } },
              },
            },
          ],
        }),
        toMessages: refused('tools'),
      },
      responses: {
        ask: {
          tools: [
            { type: 'custom', name: 'a', format: { type: 'grammar', syntax: 'regex', definition: 'a+' } },
          ],
        },
        toChat: carried({
          tools: [
            {
              type: 'custom',
              custom: {
                name: 'a',
                format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+' } },
              },
            },
          ],
        }),
        toMessages: refused('tools'),
      },
      messages: { cannotAsk: 'the input of a tool is an object' },
    },
  },
  {
    kind: 'asked',
    id: 'T14',
    title: 'Tools that the provider itself runs',
    cells: {
      chat: {
        ask: { tools: [{ type: 'openrouter:web_search' }] },
        toChat: carried(
          { tools: [{ type: 'openrouter:web_search' }] },
          { note: 'the provider says what it takes' },
        ),
        toMessages: refused('tools'),
      },
      responses: {
        ask: { tools: [{ type: 'web_search' }] },
        toChat: refused('tools'),
        toMessages: refused('tools'),
      },
      messages: {
        ask: { tools: [{ type: 'web_search_20260209', name: 'web_search' }] },
        toChat: refused('tools'),
        toMessages: carried({ tools: [{ type: 'web_search_20260209', name: 'web_search' }] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T15',
    title: 'Members of a tool that only its own format has',
    cells: {
      chat: {
        ask: { tools: [{ ...chatTool('a'), my_tag: 1 }] },
        toChat: carried({ tools: [{ my_tag: 1 }] }, { note: 'the provider says what it takes' }),
        toMessages: dropped(['tools[].my_tag'], ['tools.0.my_tag']),
      },
      responses: {
        ask: { tools: [flatTool('a', { defer_loading: true })] },
        toChat: dropped(['tools[].defer_loading'], ['tools.0.defer_loading']),
        toMessages: dropped(['tools[].defer_loading'], ['tools.0.defer_loading']),
      },
      messages: {
        ask: { tools: [blockTool('a', { input_examples: [{ city: 'Oslo' }] })] },
        toChat: dropped(
          ['tools[].input_examples'],
          ['tools.0.input_examples', 'tools.0.function.input_examples'],
        ),
        toMessages: carried({ tools: [{ input_examples: [{ city: 'Oslo' }] }] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T16',
    title: 'Functions by their older members',
    models: { chat: models.chatThatPasses },
    cells: {
      chat: {
        ask: { functions: [{ name: 'a', parameters: schema }], function_call: { name: 'a' } },
        toChat: carried({ functions: [{ name: 'a' }], function_call: { name: 'a' } }),
        toMessages: carried({
          tools: [{ name: 'a', input_schema: schema }],
          tool_choice: { type: 'tool', name: 'a' },
        }),
      },
      responses: { cannotAsk: 'it never had them' },
      messages: { cannotAsk: 'it never had them' },
    },
  },
  {
    kind: 'asked',
    id: 'T17',
    title: 'A tool that a search has found, named in its result',
    cells: {
      chat: { cannotAsk: 'results are texts' },
      responses: { cannotAsk: 'its own search is an item of its own' },
      messages: {
        ask: {
          ...blockTools,
          messages: [
            user('Hi.'),
            { role: 'assistant', content: [called('c1', 'a', {})] },
            user([
              {
                type: 'tool_result',
                tool_use_id: 'c1',
                content: [
                  { type: 'tool_reference', tool_name: 'b' },
                  { type: 'tool_reference', tool_name: 'c' },
                ],
              },
            ]),
          ],
        },
        toChat: approximated('the name of the tool as text', ['messages[].content[].content'], {
          messages: [user('Hi.'), {}, { role: 'tool', tool_call_id: 'c1', content: 'b\nc' }],
        }),
        toMessages: carried({
          messages: [
            {},
            {},
            {
              content: [
                {
                  content: [
                    { type: 'tool_reference', tool_name: 'b' },
                    { type: 'tool_reference', tool_name: 'c' },
                  ],
                },
              ],
            },
          ],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T18',
    title: 'Some tool must be called, for a chat host that does not heed the choice (Z.ai)',
    models: { chat: models.chatWithoutSchema },
    cells: {
      chat: {
        ask: { ...chatTools, tool_choice: 'required' },
        toChat: refused('tool_choice'),
        toMessages: carried({ tool_choice: { type: 'any' } }),
      },
      responses: {
        ask: { ...flatTools, tool_choice: 'required' },
        toChat: refused('tool_choice'),
        toMessages: carried({ tool_choice: { type: 'any' } }),
      },
      messages: {
        ask: { ...blockTools, tool_choice: { type: 'any' } },
        toChat: refused('tool_choice'),
        toMessages: carried({ tool_choice: { type: 'any' } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T19',
    title: 'The model may choose, for a chat host that knows nothing else (Z.ai)',
    models: { chat: models.chatWithoutSchema },
    cells: {
      chat: {
        ask: { ...chatTools, tool_choice: 'auto' },
        toChat: carried({ tools: [chatTool('a'), chatTool('b')] }, { absent: ['tool_choice'] }),
        toMessages: carried({ tool_choice: { type: 'auto' } }),
      },
      responses: {
        ask: { ...flatTools, tool_choice: 'auto' },
        toChat: carried({ tools: [chatTool('a'), chatTool('b')] }, { absent: ['tool_choice'] }),
        toMessages: carried({ tool_choice: { type: 'auto' } }),
      },
      messages: {
        ask: { ...blockTools, tool_choice: { type: 'auto' } },
        toChat: carried({ tools: [chatTool('a'), chatTool('b')] }, { absent: ['tool_choice'] }),
        toMessages: carried({ tool_choice: { type: 'auto' } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T20',
    title: 'A choice of tools that nobody knows, or that names none',
    models: { chat: models.chatThatPasses },
    cells: {
      chat: {
        ask: { ...chatTools, tool_choice: 'sometimes' },
        toChat: carried({ tool_choice: 'sometimes' }, { note: 'the provider says what it takes' }),
        toMessages: refused('tool_choice'),
      },
      responses: {
        ask: { ...flatTools, tool_choice: 'sometimes' },
        toChat: refused('tool_choice'),
        toMessages: refused('tool_choice'),
      },
      messages: {
        ask: { ...blockTools, tool_choice: { type: 'tool' } },
        toChat: refused('tool_choice.name'),
        toMessages: carried({ tool_choice: { type: 'tool' } }, { note: 'the provider says what it takes' }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'T21',
    title: 'What nobody knows of a function',
    cells: {
      chat: {
        ask: { tools: [chatTool('a', { my_member: 1 })] },
        toChat: carried({ tools: [chatTool('a', { my_member: 1 })] }),
        toMessages: dropped(['tools[].function.my_member'], ['tools.0.my_member']),
      },
      responses: {
        ask: { tools: [flatTool('a', { my_member: 1 })] },
        toChat: dropped(['tools[].my_member'], ['tools.0.my_member', 'tools.0.function.my_member']),
        toMessages: dropped(['tools[].my_member'], ['tools.0.my_member']),
      },
      messages: {
        ask: { tools: [blockTool('a', { my_member: 1 })] },
        toChat: dropped(['tools[].my_member'], ['tools.0.my_member', 'tools.0.function.my_member']),
        toMessages: carried({ tools: [blockTool('a', { my_member: 1 })] }),
      },
    },
  },
]
