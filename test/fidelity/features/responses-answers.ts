import { carried, impossible, type Caller, type Cell, type Json, type ResponsesReply } from '../table.ts'

// What an answer of OpenAI's responses says to callers of every format. Expectations follow the formats' documents and ADR 8.

/** One row's reply, and what each caller gets of it. */
export interface ResponsesAnswer {
  given: ResponsesReply | null
  cells: Readonly<Record<Caller, Cell>>
}

const message = (text: string, more: Json = {}): Json => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [], ...more }],
})
const said = (text: string, more: Json = {}): Json => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, ...more }],
})
const thought = (more: Json): Json => ({ id: 'rs_1', type: 'reasoning', summary: [], ...more })
const completion = (told: Json, more: Json = {}): Json => ({ choices: [{ message: told, ...more }] })
const text = (value: string): Json => ({ type: 'text', text: value })
const url = 'https://example.com'
const cited = { type: 'url_citation', url, title: 'A page', start_index: 0, end_index: 4 }

function answered(given: ResponsesReply, shown: Readonly<Record<Caller, Json | Cell>>): ResponsesAnswer {
  const cellOf = (value: Json | Cell): Cell => ('is' in value ? (value as Cell) : carried(value))
  return {
    given,
    cells: {
      chat: cellOf(shown.chat),
      responses: cellOf(shown.responses),
      messages: cellOf(shown.messages),
    },
  }
}

function never(why: string): ResponsesAnswer {
  const cell = impossible(why)
  return { given: null, cells: { chat: cell, responses: cell, messages: cell } }
}

function ending(
  end: Json | undefined,
  native: string,
  shown: Readonly<Record<Caller, Json>>,
): ResponsesAnswer {
  const chat = { choices: [{ ...shown.chat, native_finish_reason: native }] }
  return answered({ output: [message('So')], ...(end === undefined ? {} : { end }) }, { ...shown, chat })
}

const unsaid = never('no provider of the format says so')

/** By the rows of `answers.ts`. */
export const responsesAnswers: Readonly<Record<string, ResponsesAnswer>> = {
  A1: answered(
    { output: [message('Größe 東京 🦆')] },
    {
      chat: completion({ role: 'assistant', content: 'Größe 東京 🦆' }),
      responses: { status: 'completed', output: [said('Größe 東京 🦆')] },
      messages: { content: [text('Größe 東京 🦆')] },
    },
  ),
  // Hosts of open models show what was thought; nothing signs it.
  A2: answered(
    { output: [thought({ content: [{ type: 'reasoning_text', text: 'Hm.' }] }), message('Yes.')] },
    {
      chat: carried(
        completion({
          reasoning: 'Hm.',
          content: 'Yes.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', format: 'openai-responses-v1' }],
        }),
        {
          streamed: completion({
            reasoning: 'Hm.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Hm', index: 0 },
              { type: 'reasoning.text', text: '.', index: 0 },
            ],
          }),
        },
      ),
      responses: {
        output: [{ type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] }, said('Yes.')],
      },
      messages: { content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }, text('Yes.')] },
    },
  ),
  A3: answered(
    { output: [thought({ encrypted_content: 'd1' }), message('Yes.')] },
    {
      chat: completion({
        content: 'Yes.',
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'd1', id: 'rs_1', format: 'openai-responses-v1' },
        ],
      }),
      responses: { output: [{ type: 'reasoning', id: 'rs_1', encrypted_content: 'd1' }, said('Yes.')] },
      messages: {
        content: [{ type: 'redacted_thinking', data: 'hr1.responses.d.rs_1.d1' }, text('Yes.')],
      },
    },
  ),
  A4: answered(
    { output: [thought({ summary: [{ type: 'summary_text', text: 'Thought.' }] }), message('Yes.')] },
    {
      chat: carried(
        completion({
          reasoning: 'Thought.',
          reasoning_details: [
            { type: 'reasoning.summary', summary: 'Thought.', format: 'openai-responses-v1' },
          ],
        }),
        {
          streamed: completion({
            reasoning: 'Thought.',
            reasoning_details: [
              { type: 'reasoning.summary', summary: 'Thou', index: 0 },
              { type: 'reasoning.summary', summary: 'ght.', index: 0 },
            ],
          }),
        },
      ),
      responses: {
        output: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Thought.' }] }, said('Yes.')],
      },
      messages: { content: [{ type: 'thinking', thinking: 'Thought.' }, text('Yes.')] },
    },
  ),
  A5: answered(
    {
      output: [
        { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
        { id: 'fc_2', type: 'function_call', call_id: 'c2', name: 'b', arguments: '{"n":1}' },
      ],
    },
    {
      chat: completion(
        {
          tool_calls: [
            { index: 0, id: 'c1', type: 'function', function: { name: 'a', arguments: '{"city":"Oslo"}' } },
            { index: 1, id: 'c2', type: 'function', function: { name: 'b', arguments: '{"n":1}' } },
          ],
        },
        { finish_reason: 'tool_calls' },
      ),
      responses: {
        status: 'completed',
        output: [
          { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
          { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{"n":1}' },
        ],
      },
      messages: {
        stop_reason: 'tool_use',
        content: [
          { type: 'tool_use', id: 'c1', name: 'a', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'c2', name: 'b', input: { n: 1 } },
        ],
      },
    },
  ),
  A6: answered(
    { output: [{ ...message(''), content: [{ type: 'refusal', refusal: 'I will not.' }] }] },
    {
      chat: completion({ refusal: 'I will not.' }, { finish_reason: 'stop' }),
      responses: {
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] }],
      },
      messages: {
        stop_reason: 'refusal',
        stop_details: { type: 'refusal' },
        content: [text('I will not.')],
      },
    },
  ),
  A7: answered(
    { output: [message('Yes.', { annotations: [cited] })] },
    {
      chat: completion({
        annotations: [{ type: 'url_citation', url_citation: { url, title: 'A page', end_index: 4 } }],
      }),
      responses: { output: [said('Yes.', { annotations: [cited] })] },
      messages: {
        content: [
          { text: 'Yes.', citations: [{ type: 'web_search_result_location', url, title: 'A page' }] },
        ],
      },
    },
  ),
  A8: answered(
    {
      output: [
        message('Yes', { logprobs: [{ token: 'Yes', logprob: -0.1, bytes: [89], top_logprobs: [] }] }),
      ],
    },
    {
      chat: { choices: [{ logprobs: { content: [{ token: 'Yes', logprob: -0.1 }] } }] },
      responses: { output: [said('Yes', { logprobs: [{ token: 'Yes', logprob: -0.1 }] })] },
      messages: impossible('the format has none, and cannot ask for them'),
    },
  ),
  A9: answered(
    {
      output: [
        message('Here.'),
        { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'iVBORw0KGgo=' },
      ],
    },
    {
      chat: completion({ content: 'Here.', images: [{ type: 'image_url' }] }),
      responses: { output: [said('Here.'), { type: 'image_generation_call', result: 'iVBORw0KGgo=' }] },
      messages: carried(
        { content: [text('Here.')], headrace_metadata: { dropped: ['content[].image'] } },
        { note: 'without the picture, for which the format has no block; listed' },
      ),
    },
  ),
  A10: answered(
    {
      output: [message('Yes.')],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        output_tokens: 5,
        total_tokens: 105,
      },
    },
    {
      chat: {
        usage: { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
      },
      responses: {
        usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
      },
      messages: {
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 30,
          output_tokens: 5,
        },
      },
    },
  ),
  A11: answered(
    {
      output: [message('Yes.')],
      usage: {
        input_tokens: 10,
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 40 },
        total_tokens: 60,
      },
    },
    {
      chat: { usage: { completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 40 } } },
      responses: { usage: { output_tokens: 50, output_tokens_details: { reasoning_tokens: 40 } } },
      messages: { usage: { output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } } },
    },
  ),
  A12: ending(undefined, 'completed', {
    chat: { finish_reason: 'stop' },
    responses: { status: 'completed' },
    messages: { stop_reason: 'end_turn' },
  }),
  A13: ending(
    { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    'max_output_tokens',
    {
      chat: { finish_reason: 'length' },
      responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      messages: { stop_reason: 'max_tokens' },
    },
  ),
  A14: unsaid,
  A15: ending({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content_filter', {
    chat: { finish_reason: 'content_filter' },
    responses: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    messages: { stop_reason: 'refusal' },
  }),
  A16: unsaid,
  A17: unsaid,
  A18: never('such a response has failed: E2 and E3'),
  // What is incomplete for a reason of its own was cut off in any case.
  A19: ending({ status: 'incomplete', incomplete_details: { reason: 'tired' } }, 'tired', {
    chat: { finish_reason: 'length' },
    responses: { status: 'incomplete', incomplete_details: { reason: 'tired' } },
    messages: { stop_reason: 'max_tokens' },
  }),
}
