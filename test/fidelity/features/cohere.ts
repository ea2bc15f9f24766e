import {
  approximated,
  carried,
  dropped,
  impossible,
  refused,
  type Caller,
  type Cell,
  type CohereReply,
  type ColumnAnswer,
  type ColumnCells,
  type Json,
} from '../table.ts'

// The column of a provider that speaks Cohere's chat, in its second version, by the rows of the other files. Expectations
// follow the format's documents and ADR 8. The model is Command A+, which thinks and takes pictures and tools.

const t = (text: string): Json => ({ type: 'text', text })
const thought = (thinking: string): Json => ({ type: 'thinking', thinking })
const system = (...content: Json[]): Json => ({ role: 'system', content })
const said = (...content: Json[]): Json => ({ role: 'user', content })
const answered = (...content: Json[]): Json => ({ role: 'assistant', content })
const messages = (...list: Json[]): Json => ({ messages: list })
const picture = (url: string, more: Json = {}): Json => ({ type: 'image_url', image_url: { url, ...more } })
const same = (cell: Cell): ColumnCells => ({ chat: cell, responses: cell, messages: cell })

const address = 'https://example.com/a.png'
const png = picture('data:image/png;base64,iVBORw0KGgo=')
const refusedPart: ColumnCells = {
  chat: refused('messages[0]'),
  responses: refused('input[0]'),
  messages: refused('messages[0]'),
}
const apart = carried(messages(system(t('Be brief.')), system(t('Be kind.')), said(t('Hi.'))))
const inTheMiddle = same(
  carried(messages(said(t('Hi.')), answered(t('Hello.')), system(t('Be kind.')), said(t('So?')))),
)
const refusedBefore = carried(messages(said(t('Hi.')), answered(t('No.')), said(t('Why?'))))
const alone = (listed: string) =>
  approximated('as words of the user', [listed], messages(said(t('Be brief.'))))
const marks = ['messages.0.content.0.cache_control', 'messages.1.content.0.cache_control']
const asText = { note: 'as a text' }

const historyCells: Readonly<Record<string, ColumnCells>> = {
  H1: {
    chat: apart,
    responses: apart,
    messages: carried(messages(system(t('Be brief.'), t('Be kind.')), said(t('Hi.')))),
  },
  H2: inTheMiddle,
  H3: inTheMiddle,
  H4: same(carried(messages(said(t('One.')), said(t('Two.')), answered(t('Yes.')), said(t('Three.'))))),
  H5: { chat: dropped(['messages[].name'], ['messages.0.name']) },
  H6: same(carried(messages(said(picture(address))))),
  H7: same(carried(messages(said(png)))),
  H8: {
    chat: carried(messages(said(picture(address, { detail: 'low' })))),
    responses: carried(messages(said(picture(address, { detail: 'low' })))),
  },
  H9: { responses: refused('input[0]'), messages: refused('messages[0]') },
  H10: refusedPart,
  H11: refusedPart,
  H12: refusedPart,
  H13: {
    chat: carried(messages(said(t('a.txt\nHi there.'))), asText),
    responses: carried(messages(said(t('a.txt\nHi there.'))), asText),
    messages: carried(messages(said(t('a.txt\nA note.\nHi there.'))), asText),
  },
  H14: { messages: refused('messages[0]') },
  H15: { chat: refused('messages[0]') },
  H16: { chat: refused('messages[0]'), responses: refused('input[1]'), messages: refused('messages[0]') },
  H17: { chat: refusedBefore, responses: refusedBefore },
  H18: {
    chat: dropped(['messages[].annotations'], ['messages.1.annotations', 'messages.1.citations']),
    responses: dropped(
      ['input[].content[].annotations'],
      ['messages.1.content.0.annotations', 'messages.1.citations'],
    ),
    messages: dropped(
      ['messages[].content[].citations'],
      ['messages.1.content.0.citations', 'messages.1.citations'],
    ),
  },
  H19: {
    chat: dropped(
      ['messages[].content[].my_tag', 'messages[].provider_specific_fields'],
      ['messages.0.content.0.my_tag', 'messages.1.provider_specific_fields'],
    ),
    responses: dropped(
      ['input[].content[].my_tag', 'input[].my_mark'],
      ['messages.0.content.0.my_tag', 'messages.0.my_mark'],
    ),
    messages: dropped(
      ['messages[].content[].my_tag', 'messages[].my_mark'],
      ['messages.0.content.0.my_tag', 'messages.0.my_mark'],
    ),
  },
  H20: {
    chat: dropped(['messages[].content[].my_tag', 'messages[].my_mark'], ['messages.0.my_mark']),
    responses: dropped(['input[].my_mark'], ['messages.0.my_mark']),
    messages: dropped(['messages[].my_mark'], ['messages.0.my_mark']),
  },
  H21: {
    chat: dropped(['messages[].content[].cache_control'], marks),
    messages: dropped(
      ['messages[].content[].cache_control', 'system[].cache_control', 'tools[].cache_control'],
      [...marks, 'tools.0.cache_control'],
    ),
  },
  H22: {
    chat: dropped(['messages[].content[].cache_control'], marks),
    messages: dropped(['messages[].content[].cache_control'], marks),
  },
  H23: {
    chat: dropped(['cache_control', 'messages[].content[].cache_control'], ['cache_control', ...marks]),
    messages: dropped(
      [
        'cache_control',
        'messages[].content[].cache_control',
        'system[].cache_control',
        'tools[].cache_control',
      ],
      ['cache_control', ...marks, 'tools.0.cache_control'],
    ),
  },
  H24: { chat: alone('messages[].role'), responses: alone('input[].role') },
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tool = (name: string): Json => ({
  type: 'function',
  function: { name, description: 'It tells.', parameters: schema },
})
const both = { tools: [tool('a'), tool('b')] }
const called = (id: string, name: string, text: string): Json => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})
const calling = (...calls: Json[]): Json => ({ role: 'assistant', tool_calls: calls })
const gave = (id: string, content: string): Json => ({ role: 'tool', tool_call_id: id, content })
const loop = carried(
  messages(
    said(t('Hi.')),
    calling(called('c1', 'a', '{"city":"Oslo"}'), called('c2', 'b', '{}')),
    gave('c1', 'sunny'),
    gave('c2', 'rain'),
    said(t('So?')),
  ),
)
const broken = carried(messages({}, calling(called('c1', 'a', '{"city":')), {}))
const shownBehind = messages(said(t('Hi.')), {}, gave('c1', 'Look:'), said(t('From the tool call c1:'), png))
const oneAtATime = (listed: string) => dropped([listed], ['parallel_tool_calls'], both)
const free = same(carried(both, { absent: ['tool_choice'], note: 'by saying nothing of it' }))
const someTool = same(carried({ ...both, tool_choice: 'REQUIRED' }))
const others = 'the others are left out'

const toolCells: Readonly<Record<string, ColumnCells>> = {
  T1: same(
    carried(
      { ...both, strict_tools: true },
      { note: 'one that is strict holds all of them to their schemas' },
    ),
  ),
  T2: free,
  T3: someTool,
  T4: same(carried({ ...both, tool_choice: 'NONE' })),
  T5: same(carried({ tools: [tool('b')], tool_choice: 'REQUIRED' }, { note: others })),
  T6: {
    chat: carried({ tools: [tool('b')], tool_choice: 'REQUIRED' }, { note: others }),
    responses: carried({ tools: [tool('b')] }, { absent: ['tool_choice'], note: others }),
  },
  T7: {
    chat: oneAtATime('parallel_tool_calls'),
    responses: oneAtATime('parallel_tool_calls'),
    messages: oneAtATime('tool_choice.disable_parallel_tool_use'),
  },
  T8: same(loop),
  T9: { chat: broken, responses: broken },
  T10: {
    responses: approximated('the image follows as the user’s', ['input[].output'], shownBehind),
    messages: approximated('the image follows as the user’s', ['messages[].content[].content'], shownBehind),
  },
  T11: {
    messages: approximated(
      'told in words',
      ['messages[].content[].is_error'],
      messages({}, {}, gave('c1', 'The tool failed:\nNo such city.')),
    ),
  },
  T12: { chat: refused('tools'), responses: refused('tools') },
  T13: { chat: refused('tools'), responses: refused('tools') },
  T14: same(refused('tools')),
  T15: {
    chat: dropped(['tools[].my_tag'], ['tools.0.my_tag']),
    responses: dropped(
      ['tools[].defer_loading'],
      ['tools.0.defer_loading', 'tools.0.function.defer_loading'],
    ),
    messages: dropped(
      ['tools[].input_examples'],
      ['tools.0.input_examples', 'tools.0.function.input_examples'],
    ),
  },
  T16: {
    chat: carried({
      tools: [{ type: 'function', function: { name: 'a', parameters: schema } }],
      tool_choice: 'REQUIRED',
    }),
  },
  T17: {
    messages: approximated(
      'the name of the tool as text',
      ['messages[].content[].content'],
      messages(said(t('Hi.')), {}, gave('c1', 'b\nc')),
    ),
  },
  T18: someTool,
  T19: free,
  T20: {
    chat: refused('tool_choice'),
    responses: refused('tool_choice'),
    messages: refused('tool_choice.name'),
  },
  T21: {
    chat: dropped(['tools[].function.my_member'], ['tools.0.my_member', 'tools.0.function.my_member']),
    responses: dropped(['tools[].my_member'], ['tools.0.my_member', 'tools.0.function.my_member']),
    messages: dropped(['tools[].my_member'], ['tools.0.my_member', 'tools.0.function.my_member']),
  },
}

const closed = { ...schema, additionalProperties: false }
const open = { type: 'object', properties: { city: { type: 'string', minLength: 2 } } }
const words = (value: Json) =>
  `Answer with JSON that fits this JSON schema and nothing else: no words around it, no code fence.\n${JSON.stringify(value)}`
const asJson = { response_format: { type: 'json_object' } }
const held = (note = '') =>
  same(carried({ response_format: { type: 'json_object', json_schema: closed } }, { note }))
const told = (listed: string) =>
  approximated('told in the prompt, and the answer checked', [listed], {
    ...asJson,
    ...messages({ role: 'system', content: words(open) }, said(t('Hello.'))),
  })
const thinking = (token_budget: number): Json => ({ thinking: { type: 'enabled', token_budget } })
const on = { thinking: { type: 'enabled' } }
const share = { note: 'as a share of the output: 2, 10, 30, 60 or 90 per cent' }
const foreign = (listed: string) =>
  dropped([listed], ['messages.1.content.1'], messages({}, answered(t('Yes.')), {}))
const sampled = same(carried({ temperature: 0.5, p: 0.9 }))
const notBelow = approximated('below 0 as 0', ['frequency_penalty'], {
  presence_penalty: 1,
  frequency_penalty: 0,
})

const wishCells: Readonly<Record<string, ColumnCells>> = {
  W1: same(carried({ max_tokens: 50 })),
  W2: { chat: carried(asJson), responses: carried(asJson) },
  W3: held(),
  W4: {
    chat: told('response_format'),
    responses: told('text.format'),
    messages: told('output_config.format'),
  },
  W5: held('its models take schemas'),
  W6: {
    chat: refused('response_format'),
    responses: refused('text.format'),
    messages: refused('output_config.format'),
  },
  W7: same(carried(on, share)),
  W8: {
    chat: carried(thinking(6_000), share),
    responses: carried(thinking(2_000), share),
    messages: carried(thinking(600), share),
  },
  W9: {
    chat: carried(thinking(2_000)),
    responses: carried(thinking(2_000)),
    messages: carried(thinking(1_500)),
  },
  W10: same(carried({ thinking: { type: 'disabled' } })),
  W11: same(carried(on, { note: 'thoughts come in full' })),
  W12: {
    chat: carried({ ...on, tool_choice: 'REQUIRED' }, share),
    responses: carried({ ...on, tool_choice: 'REQUIRED' }, share),
    messages: carried({ ...thinking(1_500), tool_choice: 'REQUIRED' }),
  },
  W13: {
    chat: foreign('messages[].reasoning'),
    responses: foreign('input[].reasoning'),
    messages: foreign('messages[].content[].thinking'),
  },
  W14: {
    chat: carried(messages({}, answered(thought('Hm.'), t('Yes.')), {}), {
      note: 'words without a seal, as its own are',
    }),
    responses: foreign('input[].reasoning'),
    messages: foreign('messages[].content[].thinking'),
  },
  W15: { chat: carried({ stop_sequences: ['END'] }), messages: carried({ stop_sequences: ['END'] }) },
  W16: {
    chat: carried({ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, { note: 'up to five' }),
    messages: carried({ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, { note: 'up to five' }),
  },
  W17: { chat: refused('n') },
  W18: { chat: refused('logprobs'), responses: refused('top_logprobs') },
  W19: sampled,
  W20: {
    chat: approximated('as 1', ['temperature'], { temperature: 1 }),
    responses: approximated('as 1', ['temperature'], { temperature: 1 }),
  },
  W21: sampled,
  W22: same(carried({ k: 5 })),
  W23: { chat: carried({ seed: 7 }) },
  W24: { chat: dropped(['logit_bias'], ['logit_bias']) },
  W25: { chat: dropped(['min_p', 'repetition_penalty'], ['min_p', 'repetition_penalty']) },
  W26: { chat: notBelow, responses: notBelow },
  W27: {
    chat: dropped(['verbosity'], ['verbosity']),
    responses: dropped(['text.verbosity'], ['verbosity']),
  },
  W28: { chat: refused('service_tier', 404), responses: refused('service_tier', 404) },
  W29: {
    chat: dropped(['prompt_cache_key'], ['prompt_cache_key']),
    responses: dropped(['prompt_cache_key'], ['prompt_cache_key']),
  },
  W30: {
    chat: dropped(['user'], ['user']),
    responses: dropped(['user'], ['user']),
    messages: dropped(['metadata.user_id'], ['metadata', 'user']),
  },
  W31: {
    chat: dropped(['metadata'], ['metadata']),
    responses: carried({}, { absent: ['metadata'], note: 'the response says them again' }),
  },
  W32: { chat: dropped(['store'], ['store']), responses: refused('store') },
  W33: { responses: refused('previous_response_id'), messages: refused('previous_message_id') },
  W34: { responses: refused('truncation') },
  W35: { responses: dropped(['include'], ['include']) },
  W36: { chat: dropped(['prediction'], ['prediction']) },
  W37: { chat: refused('web_search_options') },
  W38: { chat: refused('modalities'), responses: refused('modalities') },
  W39: same(dropped(['my_member'], ['my_member'])),
  W40: { messages: dropped(['context_management'], ['context_management']) },
  W41: { responses: dropped(['max_tool_calls'], ['max_tool_calls']) },
  W42: { chat: refused('logprobs'), responses: refused('top_logprobs') },
  W43: { chat: refused('modalities'), responses: refused('modalities') },
  W44: { chat: refused('image_config'), responses: refused('image_config') },
  W45: { responses: refused('text.format.type'), messages: refused('output_config.format.type') },
  W46: { chat: carried(thinking(2_000)), responses: carried(thinking(2_000)) },
  W47: {
    chat: dropped(['reasoning_effort'], ['reasoning_effort', 'thinking.token_budget']),
    responses: dropped(['reasoning.effort'], ['reasoning', 'thinking.token_budget']),
    messages: dropped(['output_config.effort'], ['output_config', 'thinking.token_budget']),
  },
  W48: {
    responses: dropped(['reasoning.context', 'reasoning.mode'], ['reasoning'], on),
    messages: dropped(['output_config.task_budget'], ['output_config'], thinking(200)),
  },
  W49: { responses: dropped(['text.verbosity'], ['verbosity']) },
  W50: { chat: dropped(['reasoning_effort'], ['reasoning_effort'], on) },
  W51: {
    chat: dropped(['verbosity'], ['verbosity']),
    responses: dropped(['text.verbosity'], ['verbosity']),
  },
  W52: { chat: carried(on, share), responses: carried(on, share), messages: carried(thinking(1_500)) },
  W53: { messages: dropped(['speed'], ['speed']) },
  W54: {
    chat: dropped(['service_tier'], ['service_tier']),
    responses: dropped(['service_tier'], ['service_tier']),
    messages: carried({}, { absent: ['service_tier'], note: 'it has one tier' }),
  },
  W55: sampled,
  W56: {
    chat: carried({ temperature: 0.5, p: 0.9, presence_penalty: 1, frequency_penalty: 1 }),
    responses: carried({ temperature: 0.5, p: 0.9 }),
    messages: carried({ temperature: 0.5, p: 0.9 }),
  },
  W57: { chat: carried({ stop_sequences: ['END'] }), messages: carried({ stop_sequences: ['END'] }) },
  W58: same(carried({ max_tokens: 50 })),
  W59: same(carried({}, { absent: ['thinking'], note: 'the gateway leaves them out' })),
}

/** By the rows about what is asked. */
export const cohereAsked: Readonly<Record<string, ColumnCells>> = {
  ...historyCells,
  ...toolCells,
  ...wishCells,
}

const completion = (message: Json, more: Json = {}): Json => ({ choices: [{ message, ...more }] })
const output = (text: string, more: Json = {}): Json => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, ...more }],
})
const reply = (content: Json[], more: Partial<CohereReply> = {}): CohereReply => ({
  content,
  finish: 'COMPLETE',
  ...more,
})
const url = 'https://example.com'
const asError = { note: 'as an error' }
const errorInstead = impossible('the format has no word for it; the caller gets an error, as in E3')

const never = (why = 'no provider of the format says so'): ColumnAnswer<CohereReply> => ({
  given: null,
  cells: { chat: impossible(why), responses: impossible(why), messages: impossible(why) },
})

/** An end, in the provider's word and in those of the callers. */
const ended = (native: string, shown: Record<Caller, Json>): ColumnAnswer<CohereReply> => ({
  given: reply([t('So')], { finish: native }),
  cells: {
    chat: carried({ choices: [{ ...shown.chat, native_finish_reason: native }] }),
    responses: carried(shown.responses),
    messages: carried(shown.messages),
  },
})

/** By the rows about what an answer says. */
export const cohereAnswered: Readonly<Record<string, ColumnAnswer<CohereReply>>> = {
  A1: {
    given: reply([t('Größe 東京 🦆')]),
    cells: {
      chat: carried(completion({ role: 'assistant', content: 'Größe 東京 🦆' })),
      responses: carried({ status: 'completed', output: [output('Größe 東京 🦆')] }),
      messages: carried({ content: [t('Größe 東京 🦆')] }),
    },
  },
  A2: {
    given: reply([thought('Hm.'), t('Yes.')]),
    cells: {
      chat: carried(completion({ reasoning: 'Hm.', content: 'Yes.' })),
      responses: carried({
        output: [{ type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] }, output('Yes.')],
      }),
      messages: carried({ content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }, t('Yes.')] }),
    },
  },
  A3: never('its thoughts are words'),
  A4: never('its thoughts are words that are shown: A2'),
  A5: {
    given: {
      plan: 'I look.',
      calls: [called('c1', 'a', '{"city":"Oslo"}'), called('c2', 'b', '{"n":1}')],
      finish: 'TOOL_CALL',
    },
    cells: {
      chat: carried(
        completion(
          {
            reasoning: 'I look.',
            tool_calls: [
              { index: 0, ...called('c1', 'a', '{"city":"Oslo"}') },
              { index: 1, ...called('c2', 'b', '{"n":1}') },
            ],
          },
          { finish_reason: 'tool_calls' },
        ),
        { note: 'the plan before them as a thought' },
      ),
      responses: carried(
        {
          status: 'completed',
          output: [
            { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'I look.' }] },
            { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
            { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{"n":1}' },
          ],
        },
        { note: 'the plan before them as a thought' },
      ),
      messages: carried(
        {
          stop_reason: 'tool_use',
          content: [
            { type: 'thinking', thinking: 'I look.' },
            { type: 'tool_use', id: 'c1', name: 'a', input: { city: 'Oslo' } },
            { type: 'tool_use', id: 'c2', name: 'b', input: { n: 1 } },
          ],
        },
        { note: 'the plan before them as a thought' },
      ),
    },
  },
  A6: never('its refusals are texts'),
  A7: {
    given: reply([t('Yes.')], {
      citations: [
        {
          start: 0,
          end: 4,
          text: 'Yes.',
          content_index: 0,
          type: 'TEXT_CONTENT',
          sources: [{ type: 'document', id: 'doc:0', document: { id: 'doc:0', title: 'A page', url } }],
        },
      ],
    }),
    cells: {
      chat: carried(
        completion({
          annotations: [{ type: 'url_citation', url_citation: { url, title: 'A page', end_index: 4 } }],
        }),
      ),
      responses: carried({
        output: [
          output('Yes.', { annotations: [{ type: 'url_citation', url, title: 'A page', end_index: 4 }] }),
        ],
      }),
      messages: carried({
        content: [
          { text: 'Yes.', citations: [{ type: 'web_search_result_location', url, title: 'A page' }] },
        ],
      }),
    },
  },
  A8: never('asking for them is refused'),
  A9: never('its answers have none'),
  A10: never('what it reads from its cache it does not bill'),
  A11: never('its usage counts thoughts with the rest of the output'),
  A12: ended('COMPLETE', {
    chat: { finish_reason: 'stop' },
    responses: { status: 'completed' },
    messages: { stop_reason: 'end_turn' },
  }),
  A13: ended('MAX_TOKENS', {
    chat: { finish_reason: 'length' },
    responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    messages: { stop_reason: 'max_tokens' },
  }),
  A14: ended('STOP_SEQUENCE', {
    chat: { finish_reason: 'stop' },
    responses: { status: 'completed' },
    messages: { stop_reason: 'stop_sequence', stop_sequence: null },
  }),
  A15: never(),
  A16: never('it is told as the limit of tokens: A13'),
  A17: never(),
  A18: never('its answer ends with an error: E3'),
  A19: {
    given: reply([t('So')], { finish: 'TIRED' }),
    cells: {
      chat: carried({ choices: [{ finish_reason: 'error', native_finish_reason: 'TIRED' }] }, asError),
      responses: carried({ status: 'failed' }, asError),
      messages: errorInstead,
    },
  },
}
