import { models } from '../lab.ts'
import { approximated, carried, dropped, refused, type AskedRow, type Json } from '../table.ts'

// What a request says about the answer. Expectations follow the formats' documents and ADR 8.

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
/** Anthropic takes no lengths, and every object closed; OpenAI's strict mode wants every member required. */
const open = { type: 'object', properties: { city: { type: 'string', minLength: 2 } } }

const city = '{"city":"Oslo"}'
const jsonWords = 'Answer with one JSON object and nothing else: no words around it, no code fence.'
const schemaWords = (value: Json) =>
  `Answer with JSON that fits this JSON schema and nothing else: no words around it, no code fence.\n${JSON.stringify(value)}`

/** A tool that must be called stands for the answer. */
const byTool = (listed: string, value: Json) =>
  approximated('by a tool that gives the answer, which is checked', [listed], {
    tools: [{ name: 'give_answer', input_schema: value }],
    tool_choice: { type: 'tool', name: 'give_answer' },
  })

const chatSchema = (value: Json, strict: boolean | null): Json => ({
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'place', schema: value, ...(strict === null ? {} : { strict }) },
  },
})
const flatSchema = (value: Json, strict: boolean | null): Json => ({
  text: {
    format: { type: 'json_schema', name: 'place', schema: value, ...(strict === null ? {} : { strict }) },
  },
})
const blockSchema = (value: Json): Json => ({
  output_config: { format: { type: 'json_schema', schema: value } },
})

const hides = 'the gateway leaves them out'
const user = (content: unknown): Json => ({ role: 'user', content })

/** A number that only shapes the answer, which Anthropic does not know. */
function tuningRow(id: string, title: string, members: Json, upstream?: string): AskedRow {
  const names = Object.keys(members)
  return {
    kind: 'asked',
    id,
    title,
    ...(upstream === undefined ? {} : { models: { chat: upstream } }),
    cells: {
      chat: { ask: members, toChat: carried(members), toMessages: dropped(names, names) },
      responses: { cannotAsk: 'a request has no such member' },
      messages: { cannotAsk: 'a request has no such member' },
    },
  }
}

export const wishRows: readonly AskedRow[] = [
  {
    kind: 'asked',
    id: 'W1',
    title: 'Most tokens of the answer',
    cells: {
      chat: {
        ask: { max_tokens: 50 },
        toChat: carried({ max_completion_tokens: 50 }),
        toMessages: carried({ max_tokens: 50 }),
      },
      responses: {
        ask: { max_output_tokens: 50 },
        toChat: carried({ max_completion_tokens: 50 }),
        toMessages: carried({ max_tokens: 50 }),
      },
      messages: {
        ask: { max_tokens: 50 },
        toChat: carried({ max_completion_tokens: 50 }),
        toMessages: carried({ max_tokens: 50 }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W2',
    title: 'Any JSON object',
    text: city,
    cells: {
      chat: {
        ask: { response_format: { type: 'json_object' } },
        toChat: carried({ response_format: { type: 'json_object' } }),
        toMessages: approximated('told in the prompt, and the answer checked', ['response_format'], {
          system: [{ type: 'text', text: jsonWords }],
        }),
      },
      responses: {
        ask: { text: { format: { type: 'json_object' } } },
        toChat: carried({ response_format: { type: 'json_object' } }),
        toMessages: approximated('told in the prompt, and the answer checked', ['text.format'], {
          system: [{ type: 'text', text: jsonWords }],
        }),
      },
      messages: { cannotAsk: 'JSON has a schema there' },
    },
  },
  {
    kind: 'asked',
    id: 'W3',
    title: 'A schema, held to the letter',
    text: city,
    cells: {
      chat: {
        ask: chatSchema(schema, true),
        toChat: carried(chatSchema(schema, true)),
        toMessages: carried(blockSchema(schema)),
      },
      responses: {
        ask: flatSchema(schema, true),
        toChat: carried(chatSchema(schema, true)),
        toMessages: carried(blockSchema(schema)),
      },
      messages: {
        ask: blockSchema(schema),
        toChat: carried({
          response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
        }),
        toMessages: carried(blockSchema(schema)),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W4',
    title: 'A schema with what the provider cannot hold to',
    text: city,
    cells: {
      chat: {
        ask: chatSchema(open, false),
        toChat: carried(chatSchema(open, false)),
        toMessages: byTool('response_format', open),
      },
      responses: {
        ask: flatSchema(open, null),
        toChat: carried(chatSchema(open, null)),
        toMessages: byTool('text.format', open),
      },
      messages: {
        ask: blockSchema(open),
        toChat: approximated('not held to the letter, and the answer checked', ['output_config.format'], {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'answer', schema: open, strict: false },
          },
        }),
        toMessages: carried(blockSchema(open), { note: 'the provider says what it takes' }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W5',
    title: 'A schema, for a model or host that takes none',
    models: { chat: models.chatWithoutSchema, messages: models.messagesOlder },
    text: city,
    cells: {
      chat: {
        ask: chatSchema(schema, true),
        toChat: approximated('told in the prompt, and the answer checked', ['response_format'], {
          response_format: { type: 'json_object' },
          messages: [{ role: 'system', content: schemaWords(schema) }, user('Hello.')],
        }),
        toMessages: byTool('response_format', schema),
      },
      responses: {
        ask: flatSchema(schema, true),
        toChat: approximated('told in the prompt, and the answer checked', ['text.format'], {
          response_format: { type: 'json_object' },
          messages: [{ role: 'system', content: schemaWords(schema) }, user('Hello.')],
        }),
        toMessages: byTool('text.format', schema),
      },
      messages: {
        ask: blockSchema(schema),
        toChat: approximated('told in the prompt, and the answer checked', ['output_config.format'], {
          response_format: { type: 'json_object' },
          messages: [{ role: 'system', content: schemaWords(schema) }, user('Hello.')],
        }),
        toMessages: carried(blockSchema(schema), { note: 'the provider says what it takes' }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W6',
    title: 'A schema that nobody can check, for a model or host that takes none',
    models: { chat: models.chatWithoutSchema, messages: models.messagesOlder },
    cells: {
      chat: {
        ask: chatSchema({ type: 'object', $ref: 'https://example.com/place.json' }, true),
        toChat: refused('response_format'),
        toMessages: refused('response_format'),
      },
      responses: {
        ask: flatSchema({ type: 'string', not: { pattern: '(a+)+$' } }, true),
        toChat: refused('text.format'),
        toMessages: refused('text.format'),
      },
      messages: {
        ask: blockSchema({ type: 'string', not: { pattern: '(a+)+$' } }),
        toChat: refused('output_config.format'),
        toMessages: carried(blockSchema({ type: 'string', not: { pattern: '(a+)+$' } }), {
          note: 'the provider says what it takes',
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W7',
    title: 'Effort, for a model that thinks as it sees fit',
    models: { messages: models.messagesNewest },
    cells: {
      chat: {
        ask: { reasoning: { effort: 'high' } },
        toChat: carried({ reasoning_effort: 'high' }),
        toMessages: carried({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }),
      },
      responses: {
        ask: { reasoning: { effort: 'high' } },
        toChat: carried({ reasoning_effort: 'high' }),
        toMessages: carried({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }),
      },
      messages: {
        ask: { output_config: { effort: 'high' } },
        toChat: carried({ reasoning_effort: 'high' }),
        toMessages: carried({ output_config: { effort: 'high' } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W8',
    title: 'Effort, for a model that thinks within a budget',
    cells: {
      chat: {
        ask: { reasoning_effort: 'high', max_tokens: 10_000 },
        toChat: carried({ reasoning_effort: 'high' }),
        toMessages: carried(
          { thinking: { type: 'enabled', budget_tokens: 6_000 } },
          { note: 'as a share of the output: 10, 30, 60 or 90 per cent' },
        ),
      },
      responses: {
        ask: { reasoning: { effort: 'low' }, max_output_tokens: 20_000 },
        toChat: carried({ reasoning_effort: 'low' }),
        toMessages: carried(
          { thinking: { type: 'enabled', budget_tokens: 2_000 } },
          { note: 'as a share of the output: 10, 30, 60 or 90 per cent' },
        ),
      },
      messages: {
        ask: { output_config: { effort: 'medium' } },
        toChat: carried({ reasoning_effort: 'medium' }),
        toMessages: carried(
          { output_config: { effort: 'medium' } },
          { note: 'the provider says what it takes' },
        ),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W9',
    title: 'A budget of tokens to think with',
    cells: {
      chat: {
        ask: { reasoning: { max_tokens: 2_000 }, max_tokens: 10_000 },
        toChat: dropped(['reasoning.max_tokens'], ['reasoning', 'reasoning_effort']),
        toMessages: carried({ thinking: { type: 'enabled', budget_tokens: 2_000 } }),
      },
      responses: {
        ask: { reasoning: { max_tokens: 2_000 }, max_output_tokens: 10_000 },
        toChat: approximated('as an effort', ['reasoning.max_tokens'], { reasoning_effort: 'low' }),
        toMessages: carried({ thinking: { type: 'enabled', budget_tokens: 2_000 } }),
      },
      messages: {
        ask: { thinking: { type: 'enabled', budget_tokens: 1_500 } },
        toChat: approximated('as an effort', ['thinking.budget_tokens'], { reasoning_effort: 'low' }),
        toMessages: carried({ thinking: { type: 'enabled', budget_tokens: 1_500 } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W10',
    title: 'No thinking',
    cells: {
      chat: {
        ask: { reasoning: { enabled: false } },
        toChat: carried({ reasoning_effort: 'none' }),
        toMessages: carried({ thinking: { type: 'disabled' } }),
      },
      responses: {
        ask: { reasoning: { effort: 'none' } },
        toChat: carried({}, { absent: ['reasoning_effort'], note: 'by asking for none' }),
        toMessages: carried({ thinking: { type: 'disabled' } }),
      },
      messages: {
        ask: { thinking: { type: 'disabled' } },
        toChat: carried({}, { absent: ['reasoning_effort'], note: 'by asking for none' }),
        toMessages: carried({ thinking: { type: 'disabled' } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W11',
    title: 'A summary of the thoughts',
    models: { messages: models.messagesNewest },
    cells: {
      chat: {
        ask: { reasoning: { effort: 'low', summary: 'auto' } },
        toChat: dropped(['reasoning.summary'], ['reasoning'], { reasoning_effort: 'low' }),
        toMessages: carried({ thinking: { type: 'adaptive' } }, { note: 'thoughts come as a summary' }),
      },
      responses: {
        ask: { reasoning: { effort: 'low', summary: 'auto' } },
        toChat: dropped(['reasoning.summary'], ['reasoning'], { reasoning_effort: 'low' }),
        toMessages: carried({ thinking: { type: 'adaptive' } }, { note: 'thoughts come as a summary' }),
      },
      messages: {
        ask: { thinking: { type: 'adaptive' } },
        toChat: dropped(['thinking'], ['reasoning', 'thinking']),
        toMessages: carried({ thinking: { type: 'adaptive' } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W12',
    title: 'Thinking while a tool must be called',
    cells: {
      chat: {
        ask: {
          reasoning_effort: 'low',
          tools: [{ type: 'function', function: { name: 'a', parameters: schema } }],
          tool_choice: 'required',
        },
        toChat: carried({ reasoning_effort: 'low', tool_choice: 'required' }),
        toMessages: dropped(['reasoning'], ['thinking'], { tool_choice: { type: 'any' } }),
      },
      responses: {
        ask: {
          reasoning: { effort: 'low' },
          tools: [{ type: 'function', name: 'a', parameters: schema }],
          tool_choice: 'required',
        },
        toChat: carried({ reasoning_effort: 'low', tool_choice: 'required' }),
        toMessages: dropped(['reasoning'], ['thinking'], { tool_choice: { type: 'any' } }),
      },
      messages: {
        ask: {
          thinking: { type: 'enabled', budget_tokens: 1_500 },
          tools: [{ name: 'a', input_schema: schema }],
          tool_choice: { type: 'any' },
        },
        toChat: approximated('as an effort', ['thinking.budget_tokens'], {
          reasoning_effort: 'low',
          tool_choice: 'required',
        }),
        toMessages: carried(
          { thinking: { type: 'enabled' }, tool_choice: { type: 'any' } },
          { note: 'the provider says what it takes' },
        ),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W13',
    title: 'A thought of the same provider comes back',
    models: { chat: models.chatThatPasses },
    cells: {
      chat: {
        ask: {
          messages: [
            user('Hi.'),
            {
              role: 'assistant',
              content: 'Yes.',
              reasoning_details: [
                {
                  type: 'reasoning.text',
                  text: 'Hm.',
                  signature: 's1',
                  format: 'anthropic-claude-v1',
                  index: 0,
                },
              ],
            },
            user('Why?'),
          ],
        },
        toChat: carried({ messages: [{}, { reasoning_details: [{ text: 'Hm.', signature: 's1' }] }, {}] }),
        toMessages: carried({
          messages: [
            {},
            {
              content: [
                { type: 'thinking', thinking: 'Hm.', signature: 's1' },
                { type: 'text', text: 'Yes.' },
              ],
            },
            {},
          ],
        }),
      },
      responses: {
        ask: {
          input: [
            user('Hi.'),
            {
              type: 'reasoning',
              id: 'rs_1',
              summary: [],
              content: [{ type: 'reasoning_text', text: 'Hm.' }],
              encrypted_content: 'hr1.messages.s..s1',
            },
            { role: 'assistant', content: 'Yes.' },
            user('Why?'),
          ],
        },
        toChat: carried({
          messages: [
            {},
            {
              reasoning_details: [
                { type: 'reasoning.text', text: 'Hm.', signature: 's1', format: 'anthropic-claude-v1' },
              ],
            },
            {},
          ],
        }),
        toMessages: carried({
          messages: [
            {},
            {
              content: [
                { type: 'thinking', thinking: 'Hm.', signature: 's1' },
                { type: 'text', text: 'Yes.' },
              ],
            },
            {},
          ],
        }),
      },
      messages: {
        ask: {
          messages: [
            user('Hi.'),
            {
              role: 'assistant',
              content: [
                { type: 'thinking', thinking: 'Hm.', signature: 's1' },
                { type: 'redacted_thinking', data: 'd1' },
                { type: 'text', text: 'Yes.' },
              ],
            },
            user('Why?'),
          ],
        },
        toChat: carried({
          messages: [
            {},
            {
              reasoning_details: [
                { type: 'reasoning.text', text: 'Hm.', signature: 's1', format: 'anthropic-claude-v1' },
                { type: 'reasoning.encrypted', data: 'd1', format: 'anthropic-claude-v1' },
              ],
            },
            {},
          ],
        }),
        toMessages: carried({
          messages: [
            {},
            {
              content: [
                { type: 'thinking', thinking: 'Hm.', signature: 's1' },
                { type: 'redacted_thinking', data: 'd1' },
                { type: 'text', text: 'Yes.' },
              ],
            },
            {},
          ],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W14',
    title: 'A thought of another provider comes back',
    cells: {
      chat: {
        ask: {
          messages: [user('Hi.'), { role: 'assistant', content: 'Yes.', reasoning: 'Hm.' }, user('Why?')],
        },
        toChat: dropped(['messages[].reasoning'], ['messages.1.reasoning']),
        toMessages: dropped(['messages[].reasoning'], ['messages.1.reasoning'], {
          messages: [{}, { content: [{ type: 'text', text: 'Yes.' }] }, {}],
        }),
      },
      responses: {
        ask: {
          input: [
            user('Hi.'),
            { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
            { role: 'assistant', content: 'Yes.' },
            user('Why?'),
          ],
        },
        toChat: dropped(['input[].reasoning'], ['messages.1.reasoning', 'messages.1.reasoning_details']),
        toMessages: dropped(['input[].reasoning'], ['messages.1.thinking'], {
          messages: [{}, { content: [{ type: 'text', text: 'Yes.' }] }, {}],
        }),
      },
      messages: {
        ask: {
          messages: [
            user('Hi.'),
            {
              role: 'assistant',
              content: [
                { type: 'thinking', thinking: 'Hm.', signature: 'hr1.responses.d.rs_1.gAAAA' },
                { type: 'text', text: 'Yes.' },
              ],
            },
            user('Why?'),
          ],
        },
        toChat: dropped(
          ['messages[].content[].thinking'],
          ['messages.1.reasoning', 'messages.1.reasoning_details'],
        ),
        toMessages: dropped(['messages[].content[].thinking'], ['messages.1.content.1'], {
          messages: [{}, { content: [{ type: 'text', text: 'Yes.' }] }, {}],
        }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W15',
    title: 'One stop text',
    cells: {
      chat: {
        ask: { stop: 'END' },
        toChat: carried({ stop: 'END' }),
        toMessages: carried({ stop_sequences: ['END'] }),
      },
      responses: { cannotAsk: 'a request has no stop texts' },
      messages: {
        ask: { stop_sequences: ['END'] },
        toChat: carried({ stop: ['END'] }),
        toMessages: carried({ stop_sequences: ['END'] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W16',
    title: 'More than four stop texts',
    cells: {
      chat: {
        ask: { stop: ['a', 'b', 'c', 'd', 'e'] },
        toChat: carried({ stop: ['a', 'b', 'c', 'd', 'e'] }, { note: 'the provider says how many it takes' }),
        toMessages: carried({ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }),
      },
      responses: { cannotAsk: 'a request has no stop texts' },
      messages: {
        ask: { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
        toChat: refused('stop_sequences'),
        toMessages: carried({ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W17',
    title: 'Several answers',
    cells: {
      chat: { ask: { n: 2 }, toChat: carried({ n: 2 }), toMessages: refused('n') },
      responses: { cannotAsk: 'a response is one answer' },
      messages: { cannotAsk: 'a message is one answer' },
    },
  },
  {
    kind: 'asked',
    id: 'W18',
    title: 'Log probabilities',
    cells: {
      chat: {
        ask: { logprobs: true, top_logprobs: 2 },
        toChat: carried({ logprobs: true, top_logprobs: 2 }),
        toMessages: refused('logprobs'),
      },
      responses: {
        ask: { top_logprobs: 2, include: ['message.output_text.logprobs'] },
        toChat: carried({ logprobs: true, top_logprobs: 2 }),
        toMessages: refused('top_logprobs'),
      },
      messages: { cannotAsk: 'a message has none' },
    },
  },
  {
    kind: 'asked',
    id: 'W19',
    title: '`temperature` and `top_p`, for a model that takes them',
    models: { messages: models.messagesOlder },
    cells: {
      chat: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: carried({ temperature: 0.5, top_p: 0.9 }),
      },
      responses: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: carried({ temperature: 0.5, top_p: 0.9 }),
      },
      messages: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: carried({ temperature: 0.5, top_p: 0.9 }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W20',
    title: '`temperature` above 1',
    cells: {
      chat: {
        ask: { temperature: 1.5 },
        toChat: carried({ temperature: 1.5 }),
        toMessages: approximated('as 1', ['temperature'], { temperature: 1 }),
      },
      responses: {
        ask: { temperature: 1.5 },
        toChat: carried({ temperature: 1.5 }),
        toMessages: approximated('as 1', ['temperature'], { temperature: 1 }),
      },
      messages: { cannotAsk: '1 is the most' },
    },
  },
  {
    kind: 'asked',
    id: 'W21',
    title: '`temperature` and `top_p`, for a model that takes none',
    models: { messages: models.messagesNewest },
    cells: {
      chat: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
      },
      responses: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
      },
      messages: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W22',
    title: '`top_k`',
    cells: {
      chat: {
        ask: { top_k: 5 },
        toChat: dropped(['top_k'], ['top_k']),
        toMessages: carried({ top_k: 5 }),
      },
      responses: {
        ask: { top_k: 5 },
        toChat: dropped(['top_k'], ['top_k']),
        toMessages: carried({ top_k: 5 }),
      },
      messages: {
        ask: { top_k: 5 },
        toChat: dropped(['top_k'], ['top_k']),
        toMessages: carried({ top_k: 5 }),
      },
    },
  },
  tuningRow('W23', '`seed`', { seed: 7 }),
  tuningRow('W24', '`logit_bias`', { logit_bias: { '50256': -100 } }),
  tuningRow(
    'W25',
    '`min_p`, `repetition_penalty`',
    { min_p: 0.1, repetition_penalty: 1.1 },
    models.chatThatPasses,
  ),
  {
    kind: 'asked',
    id: 'W26',
    title: '`presence_penalty`, `frequency_penalty`',
    cells: {
      chat: {
        ask: { presence_penalty: 1, frequency_penalty: -1 },
        toChat: carried({ presence_penalty: 1, frequency_penalty: -1 }),
        toMessages: dropped(
          ['frequency_penalty', 'presence_penalty'],
          ['presence_penalty', 'frequency_penalty'],
        ),
      },
      responses: {
        ask: { presence_penalty: 1, frequency_penalty: -1 },
        toChat: carried({ presence_penalty: 1, frequency_penalty: -1 }),
        toMessages: dropped(
          ['frequency_penalty', 'presence_penalty'],
          ['presence_penalty', 'frequency_penalty'],
        ),
      },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W27',
    title: 'Verbosity',
    cells: {
      chat: {
        ask: { verbosity: 'low' },
        toChat: carried({ verbosity: 'low' }),
        toMessages: dropped(['verbosity'], ['verbosity']),
      },
      responses: {
        ask: { text: { verbosity: 'low' } },
        toChat: carried({ verbosity: 'low' }),
        toMessages: dropped(['text.verbosity'], ['verbosity']),
      },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W28',
    title: 'Service tier `flex`, which the endpoint does not have',
    cells: {
      chat: {
        ask: { service_tier: 'flex' },
        toChat: refused('service_tier', 404),
        toMessages: refused('service_tier', 404),
      },
      responses: {
        ask: { service_tier: 'flex' },
        toChat: refused('service_tier', 404),
        toMessages: refused('service_tier', 404),
      },
      messages: { cannotAsk: 'its clients have no such tier' },
    },
  },
  {
    kind: 'asked',
    id: 'W29',
    title: 'Key of a prompt cache',
    cells: {
      chat: {
        ask: { prompt_cache_key: 'k' },
        toChat: carried({ prompt_cache_key: 'k' }),
        toMessages: dropped(['prompt_cache_key'], ['prompt_cache_key']),
      },
      responses: {
        ask: { prompt_cache_key: 'k' },
        toChat: carried({ prompt_cache_key: 'k' }),
        toMessages: dropped(['prompt_cache_key'], ['prompt_cache_key']),
      },
      messages: { cannotAsk: 'a cache has marks there' },
    },
  },
  {
    kind: 'asked',
    id: 'W30',
    title: 'The caller’s own user',
    cells: {
      chat: {
        ask: { user: 'u1' },
        toChat: carried({ user: 'u1' }),
        toMessages: carried({ metadata: { user_id: 'u1' } }),
      },
      responses: {
        ask: { user: 'u1' },
        toChat: carried({ user: 'u1' }),
        toMessages: carried({ metadata: { user_id: 'u1' } }),
      },
      messages: {
        ask: { metadata: { user_id: 'u1' } },
        toChat: carried({ user: 'u1' }),
        toMessages: carried({ metadata: { user_id: 'u1' } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W31',
    title: 'Pairs of `metadata`',
    cells: {
      chat: {
        ask: { metadata: { job: 'a' } },
        toChat: carried({ metadata: { job: 'a' } }),
        toMessages: dropped(['metadata'], ['metadata']),
      },
      responses: {
        ask: { metadata: { job: 'a' } },
        toChat: carried({}, { absent: ['metadata'], note: 'the response says them again' }),
        toMessages: carried({}, { absent: ['metadata'], note: 'the response says them again' }),
      },
      messages: { cannotAsk: '`metadata` has the user alone' },
    },
  },
  {
    kind: 'asked',
    id: 'W32',
    title: 'Keeping the answer: `store`',
    cells: {
      chat: {
        ask: { store: true },
        toChat: carried({ store: true }),
        toMessages: dropped(['store'], ['store']),
      },
      responses: { ask: { store: true }, toChat: refused('store'), toMessages: refused('store') },
      messages: { cannotAsk: 'messages are not kept' },
    },
  },
  {
    kind: 'asked',
    id: 'W33',
    title: 'Going on from an answer that was kept',
    cells: {
      chat: { cannotAsk: 'completions are not gone on from' },
      responses: {
        ask: { previous_response_id: 'resp_1' },
        toChat: refused('previous_response_id'),
        toMessages: refused('previous_response_id'),
      },
      messages: {
        ask: { previous_message_id: 'msg_1' },
        toChat: refused('previous_message_id'),
        toMessages: refused('previous_message_id'),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W34',
    title: '`truncation: auto`',
    cells: {
      chat: { cannotAsk: 'a prompt is never cut there' },
      responses: {
        ask: { truncation: 'auto' },
        toChat: refused('truncation'),
        toMessages: refused('truncation'),
      },
      messages: { cannotAsk: 'a prompt is never cut there' },
    },
  },
  {
    kind: 'asked',
    id: 'W35',
    title: '`include` of what only the provider’s own tools have',
    cells: {
      chat: { cannotAsk: 'a completion has all it has' },
      responses: {
        ask: { include: ['reasoning.encrypted_content', 'web_search_call.action.sources'] },
        toChat: dropped(['include'], ['include']),
        toMessages: dropped(['include'], ['include']),
      },
      messages: { cannotAsk: 'a message has all it has' },
    },
  },
  {
    kind: 'asked',
    id: 'W36',
    title: '`prediction`',
    cells: {
      chat: {
        ask: { prediction: { type: 'content', content: 'x' } },
        toChat: carried({ prediction: { type: 'content', content: 'x' } }),
        toMessages: dropped(['prediction'], ['prediction']),
      },
      responses: { cannotAsk: 'a request has no such member' },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W37',
    title: '`web_search_options`',
    cells: {
      chat: {
        ask: { web_search_options: { search_context_size: 'low' } },
        toChat: carried({ web_search_options: { search_context_size: 'low' } }),
        toMessages: refused('web_search_options'),
      },
      responses: { cannotAsk: 'it is a tool there' },
      messages: { cannotAsk: 'it is a tool there' },
    },
  },
  {
    kind: 'asked',
    id: 'W38',
    title: 'An answer that is spoken',
    cells: {
      chat: {
        ask: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
        toChat: carried({ modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }),
        toMessages: refused('modalities'),
      },
      responses: {
        ask: { modalities: ['text', 'audio'] },
        toChat: refused('modalities'),
        toMessages: refused('modalities'),
      },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W39',
    title: 'Members that nobody knows',
    cells: {
      chat: {
        ask: { my_member: 1 },
        toChat: dropped(['my_member'], ['my_member']),
        toMessages: dropped(['my_member'], ['my_member']),
      },
      responses: {
        ask: { my_member: 1 },
        toChat: dropped(['my_member'], ['my_member']),
        toMessages: dropped(['my_member'], ['my_member']),
      },
      messages: {
        ask: { my_member: 1 },
        toChat: dropped(['my_member'], ['my_member']),
        toMessages: carried({ my_member: 1 }, { note: 'the provider says what it takes' }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W40',
    title: 'Editing of the context',
    cells: {
      chat: { cannotAsk: 'a request has no such member' },
      responses: { cannotAsk: 'a request has no such member' },
      messages: {
        ask: { context_management: { edits: [] } },
        toChat: dropped(['context_management'], ['context_management']),
        toMessages: carried({ context_management: { edits: [] } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W41',
    title: 'Most calls of tools',
    cells: {
      chat: { cannotAsk: 'a request has no such member' },
      responses: {
        ask: { max_tool_calls: 3 },
        toChat: dropped(['max_tool_calls'], ['max_tool_calls']),
        toMessages: dropped(['max_tool_calls'], ['max_tool_calls']),
      },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W42',
    title: 'Log probabilities, for a chat host that has none (Mistral)',
    models: { chat: models.chatWithoutLogprobs },
    cells: {
      chat: {
        ask: { logprobs: true, top_logprobs: 2 },
        toChat: refused('logprobs'),
        toMessages: refused('logprobs'),
      },
      responses: {
        ask: { top_logprobs: 2 },
        toChat: refused('top_logprobs'),
        toMessages: refused('top_logprobs'),
      },
      messages: { cannotAsk: 'a message has none' },
    },
  },
  {
    kind: 'asked',
    id: 'W43',
    title: 'A spoken answer, for a chat host that gives text alone (Mistral)',
    models: { chat: models.chatWithoutLogprobs },
    cells: {
      chat: {
        ask: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
        toChat: refused('modalities'),
        toMessages: refused('modalities'),
      },
      responses: {
        ask: { modalities: ['text', 'audio'] },
        toChat: refused('modalities'),
        toMessages: refused('modalities'),
      },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W44',
    title: 'Settings of images that the answer is to have',
    cells: {
      chat: {
        ask: { image_config: { aspect_ratio: '16:9' } },
        toChat: refused('image_config'),
        toMessages: refused('image_config'),
      },
      responses: {
        ask: { image_config: { aspect_ratio: '16:9' } },
        toChat: refused('image_config'),
        toMessages: refused('image_config'),
      },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W45',
    title: 'A form of the answer that nobody knows',
    models: { chat: models.chatThatPasses },
    cells: {
      chat: { cannotAsk: 'it is refused before a provider is chosen' },
      responses: {
        ask: { text: { format: { type: 'haiku' } } },
        toChat: refused('text.format.type'),
        toMessages: refused('text.format.type'),
      },
      messages: {
        ask: { output_config: { format: { type: 'haiku' } } },
        toChat: refused('output_config.format.type'),
        toMessages: carried(
          { output_config: { format: { type: 'haiku' } } },
          { note: 'the provider says what it takes' },
        ),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W46',
    title: 'A budget of tokens to think with, for a messages model that thinks as it sees fit',
    models: { messages: models.messagesNewest },
    cells: {
      chat: {
        ask: { reasoning: { max_tokens: 2_000 }, max_tokens: 10_000 },
        toChat: dropped(['reasoning.max_tokens'], ['reasoning', 'reasoning_effort']),
        toMessages: dropped(['reasoning.max_tokens'], ['thinking.budget_tokens'], {
          thinking: { type: 'adaptive' },
        }),
      },
      responses: {
        ask: { reasoning: { max_tokens: 2_000 }, max_output_tokens: 10_000 },
        toChat: approximated('as an effort', ['reasoning.max_tokens'], { reasoning_effort: 'low' }),
        toMessages: dropped(['reasoning.max_tokens'], ['thinking.budget_tokens'], {
          thinking: { type: 'adaptive' },
        }),
      },
      messages: { cannotAsk: 'such a model refuses a budget of its own format' },
    },
  },
  {
    kind: 'asked',
    id: 'W47',
    title: 'An effort in a word that formats do not share',
    models: { messages: models.messagesNewest },
    cells: {
      chat: {
        ask: { reasoning_effort: 'ultra' },
        toChat: carried({ reasoning_effort: 'ultra' }, { note: 'the provider says what it takes' }),
        toMessages: dropped(['reasoning_effort'], ['output_config']),
      },
      responses: {
        ask: { reasoning: { effort: 'ultra' } },
        toChat: dropped(['reasoning.effort'], ['reasoning', 'reasoning_effort']),
        toMessages: dropped(['reasoning.effort'], ['output_config']),
      },
      messages: {
        ask: { output_config: { effort: 'ultra' } },
        toChat: dropped(['output_config.effort'], ['reasoning', 'reasoning_effort']),
        toMessages: carried(
          { output_config: { effort: 'ultra' } },
          { note: 'the provider says what it takes' },
        ),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W48',
    title: 'What one format alone says about thinking',
    models: { messages: models.messagesNewest },
    cells: {
      chat: { cannotAsk: 'a request has no such member' },
      responses: {
        ask: { reasoning: { effort: 'low', mode: 'pro', context: 'all_turns' } },
        toChat: dropped(['reasoning.context', 'reasoning.mode'], ['reasoning'], { reasoning_effort: 'low' }),
        toMessages: dropped(['reasoning.context', 'reasoning.mode'], ['reasoning'], {
          output_config: { effort: 'low' },
        }),
      },
      messages: {
        ask: { output_config: { effort: 'low', task_budget: { type: 'tokens', total: 20_000 } } },
        toChat: dropped(['output_config.task_budget'], ['output_config'], { reasoning_effort: 'low' }),
        toMessages: carried({ output_config: { task_budget: { total: 20_000 } } }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W49',
    title: 'A verbosity in a word of its own',
    cells: {
      chat: { cannotAsk: 'it is refused before a provider is chosen' },
      responses: {
        ask: { text: { verbosity: 'chatty' } },
        toChat: dropped(['text.verbosity'], ['verbosity']),
        toMessages: dropped(['text.verbosity'], ['verbosity']),
      },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W50',
    title: 'Two efforts that differ: that of `reasoning` counts',
    models: { messages: models.messagesNewest },
    cells: {
      chat: {
        ask: { reasoning: { effort: 'low' }, reasoning_effort: 'high' },
        toChat: dropped(['reasoning_effort'], ['reasoning'], { reasoning_effort: 'low' }),
        toMessages: dropped(['reasoning_effort'], ['reasoning_effort'], { output_config: { effort: 'low' } }),
      },
      responses: { cannotAsk: 'a request has one member for it' },
      messages: { cannotAsk: 'a request has one member for it' },
    },
  },
  {
    kind: 'asked',
    id: 'W51',
    title: 'A verbosity above the highest that formats share',
    cells: {
      chat: {
        ask: { verbosity: 'xhigh' },
        toChat: carried({ verbosity: 'xhigh' }, { note: 'the provider says what it takes' }),
        toMessages: dropped(['verbosity'], ['verbosity']),
      },
      responses: {
        ask: { text: { verbosity: 'xhigh' } },
        toChat: dropped(['text.verbosity'], ['verbosity']),
        toMessages: dropped(['text.verbosity'], ['verbosity']),
      },
      messages: { cannotAsk: 'a request has no such member' },
    },
  },
  {
    kind: 'asked',
    id: 'W52',
    title: 'Thinking that goes on behind a tool which another model called',
    cells: {
      chat: {
        ask: {
          reasoning_effort: 'low',
          messages: [
            user('Hi.'),
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c1', type: 'function', function: { name: 'a', arguments: '{}' } }],
            },
            { role: 'tool', tool_call_id: 'c1', content: 'Sun.' },
          ],
        },
        toChat: carried({ reasoning_effort: 'low' }),
        toMessages: dropped(['reasoning'], ['thinking']),
      },
      responses: {
        ask: {
          reasoning: { effort: 'low' },
          input: [
            user('Hi.'),
            { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' },
            { type: 'function_call_output', call_id: 'c1', output: 'Sun.' },
          ],
        },
        toChat: carried({ reasoning_effort: 'low' }),
        toMessages: dropped(['reasoning'], ['thinking']),
      },
      messages: {
        ask: {
          thinking: { type: 'enabled', budget_tokens: 1_500 },
          messages: [
            user('Hi.'),
            { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'a', input: {} }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'Sun.' }] },
          ],
        },
        toChat: approximated('as an effort', ['thinking.budget_tokens'], { reasoning_effort: 'low' }),
        toMessages: dropped(['thinking'], ['thinking']),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W53',
    title: 'A speed with a price of its own',
    cells: {
      chat: { cannotAsk: 'it is a service tier there' },
      responses: { cannotAsk: 'it is a service tier there' },
      messages: {
        ask: { speed: 'fast' },
        toChat: dropped(['speed'], ['speed']),
        toMessages: dropped(['speed'], ['speed']),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W54',
    title: 'Service tier with a price of its own',
    cells: {
      chat: {
        ask: { service_tier: 'priority' },
        toChat: dropped(['service_tier'], ['service_tier']),
        toMessages: dropped(['service_tier'], ['service_tier']),
      },
      responses: {
        ask: { service_tier: 'priority' },
        toChat: dropped(['service_tier'], ['service_tier']),
        toMessages: dropped(['service_tier'], ['service_tier']),
      },
      messages: {
        ask: { service_tier: 'standard_only' },
        toChat: carried({}, { absent: ['service_tier'], note: 'the default is the standard tier' }),
        toMessages: carried({ service_tier: 'standard_only' }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W55',
    title: '`temperature` and `top_p`, for a Claude that takes one of the two',
    cells: {
      chat: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: dropped(['top_p'], ['top_p'], { temperature: 0.5 }),
      },
      responses: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: dropped(['top_p'], ['top_p'], { temperature: 0.5 }),
      },
      messages: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: carried({ temperature: 0.5, top_p: 0.9 }),
        toMessages: dropped(['top_p'], ['top_p'], { temperature: 0.5 }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W56',
    title: 'Tuning, for a chat model of OpenAI that thinks',
    models: { chat: models.chatThinking, messages: models.messagesOlder },
    cells: {
      chat: {
        ask: { temperature: 0.5, top_p: 0.9, presence_penalty: 1, frequency_penalty: 1 },
        toChat: dropped(
          ['frequency_penalty', 'presence_penalty', 'temperature', 'top_p'],
          ['frequency_penalty', 'presence_penalty', 'temperature', 'top_p'],
        ),
        toMessages: dropped(['frequency_penalty', 'presence_penalty'], ['frequency_penalty'], {
          temperature: 0.5,
          top_p: 0.9,
        }),
      },
      responses: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
        toMessages: carried({ temperature: 0.5, top_p: 0.9 }),
      },
      messages: {
        ask: { temperature: 0.5, top_p: 0.9 },
        toChat: dropped(['temperature', 'top_p'], ['temperature', 'top_p']),
        toMessages: carried({ temperature: 0.5, top_p: 0.9 }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W57',
    title: 'A stop text, for a chat model of OpenAI that thinks',
    models: { chat: models.chatThinking },
    cells: {
      chat: {
        ask: { stop: 'END' },
        toChat: refused('stop'),
        toMessages: carried({ stop_sequences: ['END'] }),
      },
      responses: { cannotAsk: 'a request has no stop texts' },
      messages: {
        ask: { stop_sequences: ['END'] },
        toChat: refused('stop_sequences'),
        toMessages: carried({ stop_sequences: ['END'] }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W58',
    title: 'Most tokens of the answer, for a server of one’s own of which nothing is said',
    models: { chat: models.chatThatPasses },
    cells: {
      chat: {
        ask: { max_completion_tokens: 50 },
        toChat: carried({ max_completion_tokens: 50 }, { note: 'by the name that the caller chose' }),
        toMessages: carried({ max_tokens: 50 }),
      },
      responses: {
        ask: { max_output_tokens: 50 },
        toChat: carried({ max_tokens: 50 }, { absent: ['max_completion_tokens'] }),
        toMessages: carried({ max_tokens: 50 }),
      },
      messages: {
        ask: { max_tokens: 50 },
        toChat: carried({ max_tokens: 50 }, { absent: ['max_completion_tokens'] }),
        toMessages: carried({ max_tokens: 50 }),
      },
    },
  },
  {
    kind: 'asked',
    id: 'W59',
    title: 'No thoughts in the answer: `reasoning.exclude`, or `include_reasoning: false`',
    cells: {
      chat: {
        ask: { reasoning: { exclude: true } },
        toChat: carried({}, { absent: ['reasoning', 'reasoning_effort'], note: hides }),
        toMessages: carried({}, { absent: ['reasoning', 'thinking'], note: hides }),
      },
      responses: {
        ask: { reasoning: { exclude: true } },
        toChat: carried({}, { absent: ['reasoning', 'reasoning_effort'], note: hides }),
        toMessages: carried({}, { absent: ['reasoning', 'thinking'], note: hides }),
      },
      messages: {
        ask: { reasoning: { exclude: true } },
        toChat: carried({}, { absent: ['reasoning', 'reasoning_effort'], note: hides }),
        toMessages: carried({}, { absent: ['reasoning', 'thinking'], note: hides }),
      },
    },
  },
]
