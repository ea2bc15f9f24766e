import {
  approximated,
  carried,
  dropped,
  impossible,
  refused,
  type Caller,
  type Cell,
  type ColumnAnswer,
  type ColumnCells,
  type GeminiReply,
  type Json,
} from '../table.ts'

// The column of a provider that speaks Gemini's format, by the rows of the other files. Expectations follow the format's
// documents and ADR 8. The model is Gemini 2.5 Flash, which thinks within a budget, unless `geminiModels` says another.

/** Models of rows that are about another one. */
export const geminiModels: Readonly<Record<string, string>> = {
  W7: 'google/gemini-3-pro-preview',
  // Gemini 2.5 Flash has a flex tier.
  W28: 'google/gemini-3-pro-preview',
  W46: 'google/gemini-3-pro-preview',
}

const t = (text: string): Json => ({ text })
const said = (...parts: Json[]): Json => ({ role: 'user', parts })
const answered = (...parts: Json[]): Json => ({ role: 'model', parts })
const contents = (...list: Json[]): Json => ({ contents: list })
const inline = (mimeType: string, data: string): Json => ({ inlineData: { mimeType, data } })
const config = (members: Json): Json => ({ generationConfig: members })
const thinking = (members: Json): Json => config({ thinkingConfig: members })
const calling = (members: Json): Json => ({ toolConfig: { functionCallingConfig: members } })
const same = (cell: Cell): ColumnCells => ({ chat: cell, responses: cell, messages: cell })
const fetched = { note: 'as bytes, which the gateway fetches' }

const png = inline('image/png', 'iVBORw0KGgo=')
const pdf = inline('application/pdf', 'JVBERi0xLjQ=')
const inTheMiddle = contents(said(t('Hi.')), answered(t('Hello.')), said(t('Be kind.'), t('So?')))
const instructed = carried({
  systemInstruction: { parts: [t('Be brief.'), t('Be kind.')] },
  ...contents(said(t('Hi.'))),
})
const inRow = carried(contents(said(t('One.'), t('Two.')), answered(t('Yes.')), said(t('Three.'))))
const refusedBefore = carried(contents(said(t('Hi.')), answered(t('No.')), said(t('Why?'))))
const asUser = (listed: string) => approximated('as words of the user', [listed], inTheMiddle)

const historyCells: Readonly<Record<string, ColumnCells>> = {
  H1: same(instructed),
  H2: {
    chat: asUser('messages[].role'),
    responses: asUser('input[].role'),
    messages: asUser('messages[].role'),
  },
  H3: {
    chat: asUser('messages[].role'),
    responses: asUser('input[].role'),
    messages: asUser('messages[].role'),
  },
  H4: same(inRow),
  H5: { chat: dropped(['messages[].name'], ['contents.0.name']) },
  H6: same(carried(contents(said(png)), fetched)),
  H7: same(carried(contents(said(png)))),
  H8: {
    chat: dropped(['messages[].content[].image_url.detail'], ['contents.0.parts.0.mediaResolution']),
    responses: dropped(['input[].content[].detail'], ['contents.0.parts.0.mediaResolution']),
  },
  H9: { responses: refused('input[0]'), messages: refused('messages[0]') },
  H10: same(carried(contents(said(t('a.pdf'), pdf)), { note: 'its name as a text before it' })),
  H11: {
    chat: carried(contents(said(t('a.pdf'), pdf)), fetched),
    responses: carried(contents(said(t('a.pdf'), pdf)), fetched),
    messages: carried(contents(said(pdf)), fetched),
  },
  H12: { chat: refused('messages[0]'), responses: refused('input[0]'), messages: refused('messages[0]') },
  H13: {
    chat: carried(contents(said(t('a.txt'), inline('text/plain', 'SGkgdGhlcmUu')))),
    responses: carried(contents(said(t('a.txt'), inline('text/plain', 'SGkgdGhlcmUu')))),
    messages: carried(contents(said(t('a.txt'), t('A note.'), t('Hi there.'))), { note: 'as texts' }),
  },
  H14: { messages: refused('messages[0]') },
  H15: { chat: carried(contents(said(inline('audio/wav', 'UklGRg==')))) },
  H16: { chat: refused('messages[0]'), responses: refused('input[1]'), messages: refused('messages[0]') },
  H17: { chat: refusedBefore, responses: refusedBefore },
  H18: {
    chat: dropped(['messages[].annotations'], ['contents.1.parts.0.annotations']),
    responses: dropped(['input[].content[].annotations'], ['contents.1.parts.0.annotations']),
    messages: dropped(['messages[].content[].citations'], ['contents.1.parts.0.citations']),
  },
  H19: {
    chat: dropped(
      ['messages[].content[].my_tag', 'messages[].provider_specific_fields'],
      ['contents.0.parts.0.my_tag', 'contents.1.provider_specific_fields'],
    ),
    responses: dropped(
      ['input[].content[].my_tag', 'input[].my_mark'],
      ['contents.0.parts.0.my_tag', 'contents.0.my_mark'],
    ),
    messages: dropped(
      ['messages[].content[].my_tag', 'messages[].my_mark'],
      ['contents.0.parts.0.my_tag', 'contents.0.my_mark'],
    ),
  },
  H20: {
    chat: dropped(['messages[].content[].my_tag', 'messages[].my_mark'], ['contents.0.my_mark']),
    responses: dropped(['input[].my_mark'], ['contents.0.my_mark']),
    messages: dropped(['messages[].my_mark'], ['contents.0.my_mark']),
  },
  H21: {
    chat: dropped(['messages[].content[].cache_control'], ['contents.0.parts.0.cache_control']),
    messages: dropped(
      ['messages[].content[].cache_control', 'system[].cache_control', 'tools[].cache_control'],
      ['contents.0.parts.0.cache_control', 'systemInstruction.parts.0.cache_control'],
    ),
  },
  H22: {
    chat: dropped(['messages[].content[].cache_control'], ['contents.0.parts.0.cache_control']),
    messages: dropped(['messages[].content[].cache_control'], ['contents.0.parts.0.cache_control']),
  },
  H24: {
    chat: approximated('as words of the user', ['messages[].role'], contents(said(t('Be brief.')))),
    responses: approximated('as words of the user', ['input[].role'], contents(said(t('Be brief.')))),
  },
  H23: {
    chat: dropped(['cache_control', 'messages[].content[].cache_control'], ['cache_control']),
    messages: dropped(
      [
        'cache_control',
        'messages[].content[].cache_control',
        'system[].cache_control',
        'tools[].cache_control',
      ],
      ['cache_control', 'contents.0.parts.0.cache_control'],
    ),
  },
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const declared = (...names: string[]): Json => ({
  tools: [
    {
      functionDeclarations: names.map((name) => ({
        name,
        description: 'It tells.',
        parametersJsonSchema: schema,
      })),
    },
  ],
})
const called = (id: string, name: string, args: Json): Json => ({ functionCall: { id, name, args } })
const gave = (id: string, name: string, response: Json): Json => ({
  functionResponse: { id, name, response },
})

const choice = (members: Json) => same(carried({ ...declared('a', 'b'), ...calling(members) }))
const loop = carried(
  contents(
    said(t('Hi.')),
    answered(called('c1', 'a', { city: 'Oslo' }), called('c2', 'b', {})),
    said(gave('c1', 'a', { output: 'sunny' }), gave('c2', 'b', { output: 'rain' }), t('So?')),
  ),
)
const broken = carried(contents({}, answered(called('c1', 'a', { _raw: '{"city":' })), {}), {
  note: 'as the member `_raw`',
})
const shownBehind = contents(
  said(t('Hi.')),
  {},
  said(gave('c1', 'a', { output: 'Look:' }), t('From the tool call c1:'), png),
)
const oneAtATime = (listed: string) => dropped([listed], ['parallel_tool_calls'], declared('a', 'b'))

const toolCells: Readonly<Record<string, ColumnCells>> = {
  T1: same(
    carried(
      { ...declared('a', 'b'), ...calling({ mode: 'VALIDATED' }) },
      { note: 'one that is strict holds all of them to their schemas' },
    ),
  ),
  T2: choice({ mode: 'AUTO' }),
  T3: choice({ mode: 'ANY' }),
  T4: choice({ mode: 'NONE' }),
  T5: choice({ mode: 'ANY', allowedFunctionNames: ['b'] }),
  T6: {
    chat: carried(calling({ mode: 'ANY', allowedFunctionNames: ['b'] })),
    responses: carried(calling({ mode: 'VALIDATED', allowedFunctionNames: ['b'] })),
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
  T11: { messages: carried(contents({}, {}, said(gave('c1', 'a', { error: 'No such city.' })))) },
  T12: { chat: refused('tools'), responses: refused('tools') },
  T13: { chat: refused('tools'), responses: refused('tools') },
  T14: same(refused('tools')),
  T15: {
    chat: dropped(['tools[].my_tag'], ['tools.0.functionDeclarations.0.my_tag']),
    responses: dropped(['tools[].defer_loading'], ['tools.0.functionDeclarations.0.defer_loading']),
    messages: dropped(['tools[].input_examples'], ['tools.0.functionDeclarations.0.input_examples']),
  },
  T16: {
    chat: carried({
      tools: [{ functionDeclarations: [{ name: 'a', parametersJsonSchema: schema }] }],
      ...calling({ mode: 'ANY', allowedFunctionNames: ['a'] }),
    }),
  },
  T17: {
    messages: approximated(
      'the name of the tool as text',
      ['messages[].content[].content'],
      contents(said(t('Hi.')), {}, said({ functionResponse: { response: { output: 'b\nc' } } })),
    ),
  },
  T18: choice({ mode: 'ANY' }),
  T19: choice({ mode: 'AUTO' }),
  T20: {
    chat: refused('tool_choice'),
    responses: refused('tool_choice'),
    messages: refused('tool_choice.name'),
  },
  T21: {
    chat: dropped(['tools[].function.my_member'], ['tools.0.functionDeclarations.0.my_member']),
    responses: dropped(['tools[].my_member'], ['tools.0.functionDeclarations.0.my_member']),
    messages: dropped(['tools[].my_member'], ['tools.0.functionDeclarations.0.my_member']),
  },
}

const closed = { ...schema, additionalProperties: false }
const open = { type: 'object', properties: { city: { type: 'string', minLength: 2 } } }
const words = (value: Json) =>
  `Answer with JSON that fits this JSON schema and nothing else: no words around it, no code fence.\n${JSON.stringify(value)}`
const held = (value: Json, note = ''): Cell =>
  carried(config({ responseMimeType: 'application/json', responseJsonSchema: value }), { note })
const toldToo = (listed: string) =>
  approximated('told in the prompt too, and the answer checked', [listed], {
    systemInstruction: { parts: [t(words(open))] },
    ...config({ responseJsonSchema: open }),
  })
const asJson = carried(config({ responseMimeType: 'application/json' }))
const share = { note: 'as a share of the output: 2, 10, 30, 60 or 90 per cent' }
const forced = (thinkingBudget: number) =>
  carried({ ...thinking({ thinkingBudget }), ...calling({ mode: 'ANY' }) })
const foreign = (listed: string) =>
  dropped([listed], ['contents.1.parts.1'], contents({}, answered(t('Yes.')), {}))
const asLevel = approximated('as a level', ['reasoning.max_tokens'], thinking({ thinkingLevel: 'LOW' }))
const noEffort = ['generationConfig.thinkingConfig.thinkingBudget']

const wishCells: Readonly<Record<string, ColumnCells>> = {
  W1: same(carried(config({ maxOutputTokens: 50 }))),
  W2: { chat: asJson, responses: asJson },
  W3: same(held(closed)),
  W4: {
    chat: toldToo('response_format'),
    responses: toldToo('text.format'),
    messages: toldToo('output_config.format'),
  },
  W5: same(held(closed, 'its models take schemas')),
  W6: {
    chat: held({ type: 'object', $ref: 'https://example.com/place.json' }, 'the provider says what it takes'),
    responses: refused('text.format'),
    messages: refused('output_config.format'),
  },
  W7: {
    chat: carried(thinking({ thinkingLevel: 'HIGH', includeThoughts: true }), { note: 'as a level' }),
    responses: carried(thinking({ thinkingLevel: 'HIGH' }), { note: 'as a level' }),
    messages: carried(thinking({ thinkingLevel: 'HIGH' }), { note: 'as a level' }),
  },
  W8: {
    chat: carried(thinking({ thinkingBudget: 6_000 }), share),
    responses: carried(thinking({ thinkingBudget: 2_000 }), share),
    messages: carried(thinking({ thinkingBudget: 600 }), share),
  },
  W9: {
    chat: carried(thinking({ thinkingBudget: 2_000 })),
    responses: carried(thinking({ thinkingBudget: 2_000 })),
    messages: carried(thinking({ thinkingBudget: 1_500 })),
  },
  W10: same(
    carried(thinking({ thinkingBudget: 0 }), {
      absent: ['generationConfig.thinkingConfig.includeThoughts'],
    }),
  ),
  W11: same(carried(thinking({ includeThoughts: true }), { note: 'thoughts come as a summary' })),
  W12: { chat: forced(6_553), responses: forced(6_553), messages: forced(1_500) },
  W13: {
    chat: foreign('messages[].reasoning'),
    responses: foreign('input[].reasoning'),
    messages: foreign('messages[].content[].thinking'),
  },
  W14: {
    chat: foreign('messages[].reasoning'),
    responses: foreign('input[].reasoning'),
    messages: foreign('messages[].content[].thinking'),
  },
  W15: {
    chat: carried(config({ stopSequences: ['END'] })),
    messages: carried(config({ stopSequences: ['END'] })),
  },
  W16: {
    chat: carried(config({ stopSequences: ['a', 'b', 'c', 'd', 'e'] }), { note: 'up to five' }),
    messages: carried(config({ stopSequences: ['a', 'b', 'c', 'd', 'e'] }), { note: 'up to five' }),
  },
  W17: { chat: carried(config({ candidateCount: 2 })) },
  W18: {
    chat: carried(config({ responseLogprobs: true, logprobs: 2 })),
    responses: carried(config({ responseLogprobs: true, logprobs: 2 })),
  },
  W19: same(carried(config({ temperature: 0.5, topP: 0.9 }))),
  W20: { chat: carried(config({ temperature: 1.5 })), responses: carried(config({ temperature: 1.5 })) },
  W21: same(carried(config({ temperature: 0.5, topP: 0.9 }))),
  W22: same(carried(config({ topK: 5 }))),
  W23: { chat: carried(config({ seed: 7 })) },
  W24: { chat: dropped(['logit_bias'], ['generationConfig', 'logit_bias']) },
  W25: { chat: dropped(['min_p', 'repetition_penalty'], ['generationConfig', 'min_p']) },
  W26: {
    chat: carried(config({ presencePenalty: 1, frequencyPenalty: -1 })),
    responses: carried(config({ presencePenalty: 1, frequencyPenalty: -1 })),
  },
  W27: {
    chat: dropped(['verbosity'], ['generationConfig', 'verbosity']),
    responses: dropped(['text.verbosity'], ['generationConfig', 'verbosity']),
  },
  W28: { chat: refused('service_tier', 404), responses: refused('service_tier', 404) },
  W29: {
    chat: dropped(['prompt_cache_key'], ['cachedContent']),
    responses: dropped(['prompt_cache_key'], ['cachedContent']),
  },
  W30: {
    chat: dropped(['user'], ['labels']),
    responses: dropped(['user'], ['labels']),
    messages: dropped(['metadata.user_id'], ['labels']),
  },
  W31: {
    chat: dropped(['metadata'], ['labels']),
    responses: carried({}, { absent: ['labels'], note: 'the response says them again' }),
  },
  W32: { chat: dropped(['store'], ['store']), responses: refused('store') },
  W33: { responses: refused('previous_response_id'), messages: refused('previous_message_id') },
  W34: { responses: refused('truncation') },
  W35: { responses: dropped(['include'], ['include']) },
  W36: { chat: dropped(['prediction'], ['prediction']) },
  W37: { chat: refused('web_search_options') },
  W38: { chat: refused('modalities'), responses: refused('modalities') },
  W39: same(dropped(['my_member'], ['my_member'])),
  W40: {
    messages: dropped(['context_management'], ['context_management']),
  },
  W41: { responses: dropped(['max_tool_calls'], ['max_tool_calls']) },
  W42: {
    chat: carried(config({ responseLogprobs: true, logprobs: 2 })),
    responses: carried(config({ responseLogprobs: true, logprobs: 2 })),
  },
  W43: { chat: refused('modalities'), responses: refused('modalities') },
  W44: { chat: refused('image_config'), responses: refused('image_config') },
  W45: { responses: refused('text.format.type'), messages: refused('output_config.format.type') },
  W46: { chat: asLevel, responses: asLevel },
  W47: {
    chat: dropped(['reasoning_effort'], noEffort),
    responses: dropped(['reasoning.effort'], noEffort),
    messages: dropped(['output_config.effort'], noEffort),
  },
  W48: {
    responses: dropped(
      ['reasoning.context', 'reasoning.mode'],
      ['reasoning'],
      thinking({ thinkingBudget: 6_553 }),
    ),
    messages: dropped(['output_config.task_budget'], ['output_config'], thinking({ thinkingBudget: 200 })),
  },
  W49: { responses: dropped(['text.verbosity'], ['generationConfig', 'verbosity']) },
  W50: { chat: dropped(['reasoning_effort'], ['reasoning_effort'], thinking({ thinkingBudget: 6_553 })) },
  W51: {
    chat: dropped(['verbosity'], ['generationConfig', 'verbosity']),
    responses: dropped(['text.verbosity'], ['generationConfig', 'verbosity']),
  },
  W52: {
    chat: carried(thinking({ thinkingBudget: 6_553 })),
    responses: carried(thinking({ thinkingBudget: 6_553 })),
    messages: carried(thinking({ thinkingBudget: 1_500 })),
  },
  W53: { messages: dropped(['speed'], ['speed']) },
  W54: {
    chat: dropped(['service_tier'], ['serviceTier']),
    responses: dropped(['service_tier'], ['serviceTier']),
    messages: carried({}, { absent: ['serviceTier'], note: 'the default is the standard tier' }),
  },
  W55: same(carried(config({ temperature: 0.5, topP: 0.9 }))),
  W56: {
    chat: carried(config({ temperature: 0.5, topP: 0.9, presencePenalty: 1, frequencyPenalty: 1 })),
    responses: carried(config({ temperature: 0.5, topP: 0.9 })),
    messages: carried(config({ temperature: 0.5, topP: 0.9 })),
  },
  W59: same(
    carried({}, { absent: ['generationConfig.thinkingConfig'], note: 'the gateway leaves them out' }),
  ),
  W58: same(carried(config({ maxOutputTokens: 50 }))),
  W57: {
    chat: carried(config({ stopSequences: ['END'] })),
    messages: carried(config({ stopSequences: ['END'] })),
  },
}

/** By the rows about what is asked. */
export const geminiAsked: Readonly<Record<string, ColumnCells>> = {
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
const block = (text: string): Json => ({ type: 'text', text })
const reply = (parts: Json[], more: Partial<GeminiReply> = {}): GeminiReply => ({
  parts,
  finish: 'STOP',
  ...more,
})
const sealed = (data: string): Json => ({ type: 'reasoning.encrypted', data, format: 'google-gemini-v1' })
const summary = (text: string): Json => ({
  type: 'reasoning.summary',
  summary: text,
  format: 'google-gemini-v1',
})
const url = 'https://example.com'
const asError = { note: 'as an error' }
const errorInstead = impossible('the format has no word for it; the caller gets an error, as in E3')

const never = (why = 'no provider of the format says so'): ColumnAnswer<GeminiReply> => ({
  given: null,
  cells: { chat: impossible(why), responses: impossible(why), messages: impossible(why) },
})

/** An end, in the provider's word and in those of the callers. */
const ended = (native: string, shown: Record<Caller, Json>): ColumnAnswer<GeminiReply> => ({
  given: reply([t('So')], { finish: native }),
  cells: {
    chat: carried({ choices: [{ ...shown.chat, native_finish_reason: native }] }),
    responses: carried(shown.responses),
    messages: carried(shown.messages),
  },
})

/** By the rows about what an answer says. */
export const geminiAnswered: Readonly<Record<string, ColumnAnswer<GeminiReply>>> = {
  A1: {
    given: reply([t('Größe 東京 🦆')]),
    cells: {
      chat: carried(completion({ role: 'assistant', content: 'Größe 東京 🦆' })),
      responses: carried({ status: 'completed', output: [output('Größe 東京 🦆')] }),
      messages: carried({ content: [block('Größe 東京 🦆')] }),
    },
  },
  A2: {
    given: reply([
      { text: 'Hm.', thought: true },
      { text: 'Yes.', thoughtSignature: 's1' },
    ]),
    cells: {
      chat: carried(
        completion({
          reasoning: 'Hm.',
          content: 'Yes.',
          reasoning_details: [summary('Hm.'), sealed('s1')],
        }),
      ),
      responses: carried({
        output: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
          { type: 'reasoning', encrypted_content: 'hr1.gemini.d..s1' },
          output('Yes.'),
        ],
      }),
      messages: carried({
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: '' },
          { type: 'redacted_thinking', data: 'hr1.gemini.d..s1' },
          block('Yes.'),
        ],
      }),
    },
  },
  A3: {
    given: reply([{ text: 'Yes.', thoughtSignature: 'd1' }]),
    cells: {
      chat: carried(completion({ content: 'Yes.', reasoning_details: [sealed('d1')] })),
      responses: carried({
        output: [{ type: 'reasoning', encrypted_content: 'hr1.gemini.d..d1' }, output('Yes.')],
      }),
      messages: carried({
        content: [{ type: 'redacted_thinking', data: 'hr1.gemini.d..d1' }, block('Yes.')],
      }),
    },
  },
  A4: {
    given: reply([{ text: 'Thought.', thought: true }, t('Yes.')]),
    cells: {
      chat: carried(completion({ reasoning_details: [summary('Thought.')] })),
      responses: carried({
        output: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Thought.' }] },
          output('Yes.'),
        ],
      }),
      messages: carried({ content: [{ type: 'thinking', thinking: 'Thought.' }, block('Yes.')] }),
    },
  },
  A5: {
    given: reply([
      { functionCall: { id: 'c1', name: 'a', args: { city: 'Oslo' } } },
      { functionCall: { id: 'c2', name: 'b', args: { n: 1 } } },
    ]),
    cells: {
      chat: carried(
        completion(
          {
            tool_calls: [
              { index: 0, id: 'c1', type: 'function', function: { name: 'a', arguments: '{"city":"Oslo"}' } },
              { index: 1, id: 'c2', type: 'function', function: { name: 'b', arguments: '{"n":1}' } },
            ],
          },
          { finish_reason: 'tool_calls' },
        ),
        { note: 'arguments at once; an id is made where there is none' },
      ),
      responses: carried({
        status: 'completed',
        output: [
          { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{"city":"Oslo"}' },
          { type: 'function_call', call_id: 'c2', name: 'b', arguments: '{"n":1}' },
        ],
      }),
      messages: carried({
        stop_reason: 'tool_use',
        content: [
          { type: 'tool_use', id: 'c1', name: 'a', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'c2', name: 'b', input: { n: 1 } },
        ],
      }),
    },
  },
  A6: {
    given: reply([], { blocked: { blockReason: 'SAFETY', blockReasonMessage: 'I will not.' } }),
    cells: {
      chat: carried(completion({ refusal: 'I will not.' }, { finish_reason: 'content_filter' })),
      responses: carried({
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
        output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] }],
      }),
      messages: carried({
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: null, explanation: 'I will not.' },
        content: [],
      }),
    },
  },
  A7: {
    given: reply([t('Yes.')], {
      candidate: {
        groundingMetadata: {
          groundingChunks: [{ web: { uri: url, title: 'A page' } }],
          groundingSupports: [{ segment: { endIndex: 4, text: 'Yes.' }, groundingChunkIndices: [0] }],
        },
      },
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
  A8: {
    given: reply([t('Yes')], {
      candidate: { logprobsResult: { chosenCandidates: [{ token: 'Yes', logProbability: -0.1 }] } },
    }),
    cells: {
      chat: carried({ choices: [{ logprobs: { content: [{ token: 'Yes', logprob: -0.1 }] } }] }),
      responses: carried({ output: [output('Yes', { logprobs: [{ token: 'Yes', logprob: -0.1 }] })] }),
      messages: impossible('the format has none, and cannot ask for them'),
    },
  },
  A9: {
    given: reply([t('Here.'), png]),
    cells: {
      chat: carried(completion({ content: 'Here.', images: [{ type: 'image_url' }] })),
      responses: carried({
        output: [output('Here.'), { type: 'image_generation_call', result: 'iVBORw0KGgo=' }],
      }),
      messages: carried(
        { content: [block('Here.')], headrace_metadata: { dropped: ['content[].image'] } },
        { note: 'without the picture, for which the format has no block; listed' },
      ),
    },
  },
  A10: {
    given: reply([t('Yes.')], {
      usage: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 5,
        totalTokenCount: 105,
      },
    }),
    cells: {
      chat: carried(
        { usage: { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60 } } },
        { note: 'of writes the format says nothing' },
      ),
      responses: carried(
        { usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60 } } },
        { note: 'of writes the format says nothing' },
      ),
      messages: carried(
        { usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 5 } },
        { note: 'of writes the format says nothing' },
      ),
    },
  },
  A11: {
    given: reply([t('Yes.')], {
      usage: {
        promptTokenCount: 10,
        candidatesTokenCount: 10,
        thoughtsTokenCount: 40,
        totalTokenCount: 60,
      },
    }),
    cells: {
      chat: carried({
        usage: { completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 40 } },
      }),
      responses: carried({ usage: { output_tokens: 50, output_tokens_details: { reasoning_tokens: 40 } } }),
      messages: carried({ usage: { output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } } }),
    },
  },
  A12: ended('STOP', {
    chat: { finish_reason: 'stop' },
    responses: { status: 'completed' },
    messages: { stop_reason: 'end_turn' },
  }),
  A13: ended('MAX_TOKENS', {
    chat: { finish_reason: 'length' },
    responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    messages: { stop_reason: 'max_tokens' },
  }),
  A14: never('it ends like an answer that has said all'),
  A15: ended('SAFETY', {
    chat: { finish_reason: 'content_filter' },
    responses: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    messages: { stop_reason: 'refusal' },
  }),
  A16: never(),
  A17: never(),
  A18: {
    given: reply([t('So')], { finish: 'OTHER' }),
    cells: {
      chat: carried({ choices: [{ finish_reason: 'error', native_finish_reason: 'OTHER' }] }),
      responses: carried({ status: 'failed' }),
      messages: errorInstead,
    },
  },
  A19: {
    given: reply([t('So')], { finish: 'TIRED' }),
    cells: {
      chat: carried({ choices: [{ finish_reason: 'error', native_finish_reason: 'TIRED' }] }, asError),
      responses: carried({ status: 'failed' }, asError),
      messages: errorInstead,
    },
  },
}
