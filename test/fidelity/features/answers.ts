import {
  carried,
  impossible,
  type AnsweredRow,
  type Cell,
  type ChatReply,
  type Json,
  type MessagesReply,
} from '../table.ts'

// What an answer says, and how it ends. Expectations follow the formats' documents and ADR 8.

const textReply = (text: string): { chat: ChatReply; messages: MessagesReply } => ({
  chat: { message: { content: text }, finish: 'stop' },
  messages: { content: [{ type: 'text', text }], stop: { stop_reason: 'end_turn' } },
})
const completion = (message: Json, more: Json = {}): Json => ({ choices: [{ message, ...more }] })
const said = (text: string, more: Json = {}): Json => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, ...more }],
})

const url = 'https://example.com'

/** How an answer ends: the words of each format for the same thing. */
function endRow(
  [id, title]: readonly [id: string, title: string],
  given: { chat: string | null; messages: Json | null },
  shown: { chat: Json; responses: Json; messages: Json },
  natives: { chat?: string; messages?: string } = {},
): AnsweredRow {
  const cells = (
    expectedOf: (native: string | undefined) => Json,
  ): { fromChat: Cell; fromMessages: Cell } => ({
    fromChat:
      given.chat === null
        ? impossible('no provider of the format says so')
        : carried(expectedOf(natives.chat)),
    fromMessages:
      given.messages === null
        ? impossible('no provider of the format says so')
        : carried(expectedOf(natives.messages)),
  })
  return {
    kind: 'answered',
    id,
    title,
    given: {
      chat: given.chat === null ? null : { message: { content: 'So' }, finish: given.chat },
      messages:
        given.messages === null ? null : { content: [{ type: 'text', text: 'So' }], stop: given.messages },
    },
    cells: {
      chat: cells((native) => ({
        choices: [{ ...shown.chat, ...(native === undefined ? {} : { native_finish_reason: native }) }],
      })),
      responses: cells(() => shown.responses),
      messages: cells(() => shown.messages),
    },
  }
}

export const answerRows: readonly AnsweredRow[] = [
  {
    kind: 'answered',
    id: 'A1',
    title: 'Text',
    given: textReply('Größe 東京 🦆'),
    cells: {
      chat: {
        fromChat: carried(completion({ role: 'assistant', content: 'Größe 東京 🦆' })),
        fromMessages: carried(completion({ role: 'assistant', content: 'Größe 東京 🦆' })),
      },
      responses: {
        fromChat: carried({ status: 'completed', output: [said('Größe 東京 🦆')] }),
        fromMessages: carried({ status: 'completed', output: [said('Größe 東京 🦆')] }),
      },
      messages: {
        fromChat: carried({ content: [{ type: 'text', text: 'Größe 東京 🦆' }] }),
        fromMessages: carried({ content: [{ type: 'text', text: 'Größe 東京 🦆' }] }),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A2',
    title: 'A thought that is shown, and its signature',
    given: {
      chat: { message: { reasoning: 'Hm.', content: 'Yes.' }, finish: 'stop' },
      messages: {
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 's1' },
          { type: 'text', text: 'Yes.' },
        ],
        stop: { stop_reason: 'end_turn' },
      },
    },
    cells: {
      chat: {
        fromChat: carried(completion({ reasoning: 'Hm.', content: 'Yes.' })),
        fromMessages: carried(
          completion({
            reasoning: 'Hm.',
            content: 'Yes.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Hm.', signature: 's1', format: 'anthropic-claude-v1' },
            ],
          }),
          {
            streamed: completion({
              reasoning: 'Hm.',
              content: 'Yes.',
              reasoning_details: [
                { type: 'reasoning.text', text: 'Hm.', index: 0 },
                { type: 'reasoning.text', signature: 's1', index: 0 },
              ],
            }),
          },
        ),
      },
      responses: {
        fromChat: carried({
          output: [{ type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] }, said('Yes.')],
        }),
        fromMessages: carried({
          output: [
            {
              type: 'reasoning',
              content: [{ type: 'reasoning_text', text: 'Hm.' }],
              // The words go with the signature, which is made for them: base64url of "Hm." and the signature.
              encrypted_content: 'hr1.messages.t..SG0u.s1',
            },
            said('Yes.'),
          ],
        }),
      },
      messages: {
        fromChat: carried({
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: '' },
            { type: 'text', text: 'Yes.' },
          ],
        }),
        fromMessages: carried({
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 's1' },
            { type: 'text', text: 'Yes.' },
          ],
        }),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A3',
    title: 'A thought that is sealed',
    given: {
      chat: {
        message: {
          reasoning_details: [
            { type: 'reasoning.encrypted', data: 'd1', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
          ],
          content: 'Yes.',
        },
        finish: 'stop',
      },
      messages: {
        content: [
          { type: 'redacted_thinking', data: 'd1' },
          { type: 'text', text: 'Yes.' },
        ],
        stop: { stop_reason: 'end_turn' },
      },
    },
    cells: {
      chat: {
        fromChat: carried(completion({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'd1' }] })),
        fromMessages: carried(
          completion({
            reasoning_details: [{ type: 'reasoning.encrypted', data: 'd1', format: 'anthropic-claude-v1' }],
          }),
        ),
      },
      responses: {
        fromChat: carried({
          output: [
            { type: 'reasoning', id: 'rs_1', encrypted_content: 'hr1.responses@sandbox.d.rs_1.d1' },
            said('Yes.'),
          ],
        }),
        fromMessages: carried({
          output: [{ type: 'reasoning', encrypted_content: 'hr1.messages.d..d1' }, said('Yes.')],
        }),
      },
      messages: {
        fromChat: carried({
          content: [
            { type: 'redacted_thinking', data: 'hr1.responses@sandbox.d.rs_1.d1' },
            { type: 'text', text: 'Yes.' },
          ],
        }),
        fromMessages: carried({
          content: [
            { type: 'redacted_thinking', data: 'd1' },
            { type: 'text', text: 'Yes.' },
          ],
        }),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A4',
    title: 'A summary of thoughts',
    given: {
      chat: {
        message: {
          reasoning_details: [
            { type: 'reasoning.summary', summary: 'Thought.', format: 'openai-responses-v1', index: 0 },
          ],
          content: 'Yes.',
        },
        finish: 'stop',
      },
      messages: null,
    },
    cells: {
      chat: {
        fromChat: carried(
          completion({ reasoning_details: [{ type: 'reasoning.summary', summary: 'Thought.' }] }),
        ),
        fromMessages: impossible('its summaries are thoughts that are shown: A2'),
      },
      responses: {
        fromChat: carried({
          output: [
            { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Thought.' }] },
            said('Yes.'),
          ],
        }),
        fromMessages: impossible('its summaries are thoughts that are shown: A2'),
      },
      messages: {
        fromChat: carried({
          content: [
            { type: 'thinking', thinking: 'Thought.' },
            { type: 'text', text: 'Yes.' },
          ],
        }),
        fromMessages: impossible('its summaries are thoughts that are shown: A2'),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A5',
    title: 'Two calls of tools, their arguments in pieces',
    given: {
      chat: {
        message: {
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'a', arguments: '{"city":"Oslo"}' } },
            { id: 'c2', type: 'function', function: { name: 'b', arguments: '{"n":1}' } },
          ],
        },
        finish: 'tool_calls',
      },
      messages: {
        content: [
          { type: 'tool_use', id: 'c1', name: 'a', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'c2', name: 'b', input: { n: 1 } },
        ],
        stop: { stop_reason: 'tool_use' },
      },
    },
    cells: {
      chat: {
        fromChat: carried(
          completion(
            {
              tool_calls: [
                {
                  index: 0,
                  id: 'c1',
                  type: 'function',
                  function: { name: 'a', arguments: '{"city":"Oslo"}' },
                },
                { index: 1, id: 'c2', type: 'function', function: { name: 'b', arguments: '{"n":1}' } },
              ],
            },
            { finish_reason: 'tool_calls' },
          ),
        ),
        fromMessages: carried(
          completion(
            {
              tool_calls: [
                {
                  index: 0,
                  id: 'c1',
                  type: 'function',
                  function: { name: 'a', arguments: '{"city":"Oslo"}' },
                },
                { index: 1, id: 'c2', type: 'function', function: { name: 'b', arguments: '{"n":1}' } },
              ],
            },
            { finish_reason: 'tool_calls' },
          ),
        ),
      },
      responses: {
        fromChat: carried({
          status: 'completed',
          output: [
            { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
            { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{"n":1}' },
          ],
        }),
        fromMessages: carried({
          status: 'completed',
          output: [
            { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
            { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{"n":1}' },
          ],
        }),
      },
      messages: {
        fromChat: carried({
          stop_reason: 'tool_use',
          content: [
            { type: 'tool_use', id: 'c1', name: 'a', input: { city: 'Oslo' } },
            { type: 'tool_use', id: 'c2', name: 'b', input: { n: 1 } },
          ],
        }),
        fromMessages: carried({
          stop_reason: 'tool_use',
          content: [
            { type: 'tool_use', id: 'c1', name: 'a', input: { city: 'Oslo' } },
            { type: 'tool_use', id: 'c2', name: 'b', input: { n: 1 } },
          ],
        }),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A6',
    title: 'A refusal in words',
    given: {
      chat: { message: { content: null, refusal: 'I will not.' }, finish: 'stop' },
      messages: {
        content: [],
        stop: {
          stop_reason: 'refusal',
          stop_details: { type: 'refusal', category: 'cyber', explanation: 'I will not.' },
        },
      },
    },
    cells: {
      chat: {
        fromChat: carried(completion({ refusal: 'I will not.' }, { finish_reason: 'stop' })),
        fromMessages: carried(completion({ refusal: 'I will not.' }, { finish_reason: 'content_filter' })),
      },
      responses: {
        fromChat: carried({
          status: 'completed',
          output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] }],
        }),
        fromMessages: carried({
          status: 'incomplete',
          incomplete_details: { reason: 'content_filter' },
          output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] }],
        }),
      },
      messages: {
        fromChat: carried({
          stop_reason: 'refusal',
          stop_details: { type: 'refusal' },
          content: [{ type: 'text', text: 'I will not.' }],
        }),
        fromMessages: carried({
          stop_reason: 'refusal',
          stop_details: { type: 'refusal', category: 'cyber', explanation: 'I will not.' },
          content: [],
        }),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A7',
    title: 'Citations of pages',
    given: {
      chat: {
        message: {
          content: 'Yes.',
          annotations: [
            { type: 'url_citation', url_citation: { url, title: 'A page', start_index: 0, end_index: 4 } },
          ],
        },
        finish: 'stop',
      },
      messages: {
        content: [
          {
            type: 'text',
            text: 'Yes.',
            citations: [
              {
                type: 'web_search_result_location',
                url,
                title: 'A page',
                cited_text: 'So.',
                encrypted_index: 'e',
              },
            ],
          },
        ],
        stop: { stop_reason: 'end_turn' },
      },
    },
    cells: {
      chat: {
        fromChat: carried(
          completion({
            annotations: [{ type: 'url_citation', url_citation: { url, title: 'A page', end_index: 4 } }],
          }),
        ),
        fromMessages: carried(
          completion({ annotations: [{ type: 'url_citation', url_citation: { url, title: 'A page' } }] }),
        ),
      },
      responses: {
        fromChat: carried({
          output: [
            said('Yes.', { annotations: [{ type: 'url_citation', url, title: 'A page', end_index: 4 }] }),
          ],
        }),
        fromMessages: carried({
          output: [said('Yes.', { annotations: [{ type: 'url_citation', url, title: 'A page' }] })],
        }),
      },
      messages: {
        fromChat: carried({
          content: [
            { text: 'Yes.', citations: [{ type: 'web_search_result_location', url, title: 'A page' }] },
          ],
        }),
        fromMessages: carried({
          content: [
            { text: 'Yes.', citations: [{ type: 'web_search_result_location', encrypted_index: 'e' }] },
          ],
        }),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A8',
    title: 'Log probabilities',
    given: {
      chat: {
        message: { content: 'Yes' },
        finish: 'stop',
        logprobs: {
          content: [{ token: 'Yes', logprob: -0.1, bytes: [89, 101, 115], top_logprobs: [] }],
          refusal: null,
        },
      },
      messages: null,
    },
    cells: {
      chat: {
        fromChat: carried({ choices: [{ logprobs: { content: [{ token: 'Yes', logprob: -0.1 }] } }] }),
        fromMessages: impossible('the format has none; asking for them is refused'),
      },
      responses: {
        fromChat: carried({ output: [said('Yes', { logprobs: [{ token: 'Yes', logprob: -0.1 }] })] }),
        fromMessages: impossible('the format has none; asking for them is refused'),
      },
      messages: {
        fromChat: impossible('the format has none, and cannot ask for them'),
        fromMessages: impossible('the format has none'),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A9',
    title: 'A picture that was made',
    given: {
      chat: {
        message: {
          content: 'Here.',
          images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
        },
        finish: 'stop',
      },
      messages: null,
    },
    cells: {
      chat: {
        fromChat: carried(completion({ content: 'Here.', images: [{ type: 'image_url' }] })),
        fromMessages: impossible('its answers have none'),
      },
      responses: {
        fromChat: carried({
          output: [said('Here.'), { type: 'image_generation_call', result: 'iVBORw0KGgo=' }],
        }),
        fromMessages: impossible('its answers have none'),
      },
      messages: {
        fromChat: carried(
          { content: [{ type: 'text', text: 'Here.' }], headrace_metadata: { dropped: ['content[].image'] } },
          { note: 'without the picture, for which the format has no block; listed' },
        ),
        fromMessages: impossible('its answers have none'),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A10',
    title: 'Reads and writes of a prompt cache in the usage',
    given: {
      chat: {
        message: { content: 'Yes.' },
        finish: 'stop',
        usage: {
          prompt_tokens: 100,
          completion_tokens: 5,
          total_tokens: 105,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        },
      },
      messages: {
        content: [{ type: 'text', text: 'Yes.' }],
        stop: { stop_reason: 'end_turn' },
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 30,
          output_tokens: 5,
        },
      },
    },
    cells: {
      chat: {
        fromChat: carried({
          usage: { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
        }),
        fromMessages: carried({
          usage: { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
        }),
      },
      responses: {
        fromChat: carried({
          usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
        }),
        fromMessages: carried({
          usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
        }),
      },
      messages: {
        fromChat: carried({
          usage: {
            input_tokens: 10,
            cache_read_input_tokens: 60,
            cache_creation_input_tokens: 30,
            output_tokens: 5,
          },
        }),
        fromMessages: carried({
          usage: {
            input_tokens: 10,
            cache_read_input_tokens: 60,
            cache_creation_input_tokens: 30,
            output_tokens: 5,
          },
        }),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A11',
    title: 'Tokens that were thought in the usage',
    given: {
      chat: {
        message: { content: 'Yes.' },
        finish: 'stop',
        usage: {
          prompt_tokens: 10,
          completion_tokens: 50,
          total_tokens: 60,
          completion_tokens_details: { reasoning_tokens: 40 },
        },
      },
      messages: {
        content: [{ type: 'text', text: 'Yes.' }],
        stop: { stop_reason: 'end_turn' },
        usage: { input_tokens: 10, output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } },
      },
    },
    cells: {
      chat: {
        fromChat: carried({
          usage: { completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 40 } },
        }),
        fromMessages: carried({
          usage: { completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 40 } },
        }),
      },
      responses: {
        fromChat: carried({ usage: { output_tokens: 50, output_tokens_details: { reasoning_tokens: 40 } } }),
        fromMessages: carried({
          usage: { output_tokens: 50, output_tokens_details: { reasoning_tokens: 40 } },
        }),
      },
      messages: {
        fromChat: carried({ usage: { output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } } }),
        fromMessages: carried({
          usage: { output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } },
        }),
      },
    },
  },
  endRow(
    ['A12', 'End: all was said'],
    { chat: 'stop', messages: { stop_reason: 'end_turn' } },
    {
      chat: { finish_reason: 'stop' },
      responses: { status: 'completed' },
      messages: { stop_reason: 'end_turn' },
    },
    { chat: 'stop', messages: 'end_turn' },
  ),
  endRow(
    ['A13', 'End: the limit of tokens'],
    { chat: 'length', messages: { stop_reason: 'max_tokens' } },
    {
      chat: { finish_reason: 'length' },
      responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      messages: { stop_reason: 'max_tokens' },
    },
    { chat: 'length', messages: 'max_tokens' },
  ),
  endRow(
    ['A14', 'End: a stop text'],
    { chat: null, messages: { stop_reason: 'stop_sequence', stop_sequence: 'END' } },
    {
      chat: { finish_reason: 'stop' },
      responses: { status: 'completed' },
      messages: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    },
    { messages: 'stop_sequence' },
  ),
  endRow(
    ['A15', 'End: a filter'],
    { chat: 'content_filter', messages: { stop_reason: 'refusal' } },
    {
      chat: { finish_reason: 'content_filter' },
      responses: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      messages: { stop_reason: 'refusal' },
    },
    { chat: 'content_filter', messages: 'refusal' },
  ),
  endRow(
    ['A16', 'End: the window of the context is full'],
    { chat: null, messages: { stop_reason: 'model_context_window_exceeded' } },
    {
      chat: { finish_reason: 'length' },
      responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      messages: { stop_reason: 'model_context_window_exceeded' },
    },
    { messages: 'model_context_window_exceeded' },
  ),
  endRow(
    ['A17', 'End: a pause, after which the caller sends all again'],
    { chat: null, messages: { stop_reason: 'pause_turn' } },
    {
      chat: { finish_reason: 'stop' },
      responses: { status: 'completed' },
      messages: { stop_reason: 'pause_turn' },
    },
    { messages: 'pause_turn' },
  ),
  {
    kind: 'answered',
    id: 'A18',
    title: 'End: the provider gave up',
    given: {
      chat: { message: { content: 'So' }, finish: 'insufficient_system_resource' },
      messages: null,
    },
    cells: {
      chat: {
        fromChat: carried({
          choices: [{ finish_reason: 'error', native_finish_reason: 'insufficient_system_resource' }],
        }),
        fromMessages: impossible('no provider of the format says so'),
      },
      responses: {
        fromChat: carried({ status: 'failed' }),
        fromMessages: impossible('no provider of the format says so'),
      },
      messages: {
        fromChat: impossible('the format has no word for it; the caller gets an error, as in E3'),
        fromMessages: impossible('no provider of the format says so'),
      },
    },
  },
  {
    kind: 'answered',
    id: 'A19',
    title: 'End: a word that nobody knows',
    given: {
      chat: { message: { content: 'So' }, finish: 'tired' },
      messages: { content: [{ type: 'text', text: 'So' }], stop: { stop_reason: 'tired' } },
    },
    cells: {
      chat: {
        fromChat: carried(
          { choices: [{ finish_reason: 'error', native_finish_reason: 'tired' }] },
          { note: 'as an error' },
        ),
        fromMessages: carried(
          { choices: [{ finish_reason: 'error', native_finish_reason: 'tired' }] },
          { note: 'as an error' },
        ),
      },
      responses: {
        fromChat: carried({ status: 'failed' }, { note: 'as an error' }),
        fromMessages: carried({ status: 'failed' }, { note: 'as an error' }),
      },
      messages: {
        fromChat: impossible('the format has no word for it; the caller gets an error, as in E3'),
        fromMessages: carried({ stop_reason: 'tired' }),
      },
    },
  },
]
