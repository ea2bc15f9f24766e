import { models } from '../lab.ts'
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
  type ConverseReply,
  type Json,
} from '../table.ts'

// The column of a provider that speaks Bedrock's Converse, by the rows of the other files. Expectations follow the format's
// documents and ADR 8. The model is Nova 2 Lite unless `converseModels` says another; callers of messages always ask Nova,
// because they reach the Claude models of Bedrock in their own format.

/** Models of rows that are about another one, for callers of chat and responses. */
export const converseModels: Readonly<Record<string, string>> = {
  H21: models.converseClaude,
  W3: models.converseClaude,
  W4: models.converseClaude,
  W7: models.converseNewest,
  W8: models.converseClaude,
  W9: models.converseClaude,
  W11: models.converseNewest,
  W12: models.converseClaude,
  W21: models.converseNewest,
  W46: models.converseNewest,
  W47: models.converseNewest,
  W48: models.converseNewest,
  W52: models.converseClaude,
  W55: models.converseClaude,
}

const t = (text: string): Json => ({ text })
const said = (...content: Json[]): Json => ({ role: 'user', content })
const answered = (...content: Json[]): Json => ({ role: 'assistant', content })
const messages = (...list: Json[]): Json => ({ messages: list })
/** Nova has no points among tools. */
const marked = (): Json => ({
  system: [t('Be brief.'), point],
  toolConfig: { tools: [{ toolSpec: { name: 'a' } }] },
  ...messages(said(t('Hi.'), point)),
})
const config = (members: Json): Json => ({ inferenceConfig: members })
const own = (members: Json): Json => ({ additionalModelRequestFields: members })
const document = (format: string, name: string, bytes: string, more: Json = {}): Json => ({
  document: { format, name, source: { bytes }, ...more },
})
const same = (cell: Cell): ColumnCells => ({ chat: cell, responses: cell, messages: cell })
const fetched = { note: 'as bytes, which the gateway fetches' }

const png = { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }
const pdf = (name: string) => document('pdf', name, 'JVBERi0xLjQ=')
/** The provider wants a text in the message of a document. */
const beside = t('See the document.')
const point = { cachePoint: { type: 'default' } }
const hour = { cachePoint: { type: 'default', ttl: '1h' } }

const instructed = carried({ system: [t('Be brief.'), t('Be kind.')], ...messages(said(t('Hi.'))) })
const inTheMiddle = messages(said(t('Hi.')), answered(t('Hello.')), said(t('Be kind.'), t('So?')))
const asUser = (listed: string) => approximated('as words of the user', [listed], inTheMiddle)
const inRow = carried(messages(said(t('One.'), t('Two.')), answered(t('Yes.')), said(t('Three.'))))
const refusedBefore = carried(messages(said(t('Hi.')), answered(t('No.')), said(t('Why?'))))
const alone = (listed: string) =>
  approximated('as words of the user', [listed], messages(said(t('Be brief.'))))
const shorter = 'an hour as five minutes'

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
  H5: { chat: dropped(['messages[].name'], ['messages.0.name']) },
  H6: same(carried(messages(said(png)), fetched)),
  H7: same(carried(messages(said(png)))),
  H8: {
    chat: dropped(['messages[].content[].image_url.detail'], ['messages.0.content.0.image.detail']),
    responses: dropped(['input[].content[].detail'], ['messages.0.content.0.image.detail']),
  },
  H9: { responses: refused('input[0]'), messages: refused('messages[0]') },
  H10: same(
    carried(messages(said(pdf('a'), beside)), {
      note: 'its name without the ending, and a text beside it, which the provider wants',
    }),
  ),
  H11: {
    chat: carried(messages(said(pdf('a'), beside)), fetched),
    responses: carried(messages(said(pdf('a'), beside)), fetched),
    messages: carried(messages(said(pdf('Document'), beside)), fetched),
  },
  H12: { chat: refused('messages[0]'), responses: refused('input[0]'), messages: refused('messages[0]') },
  H13: {
    chat: carried(messages(said(document('txt', 'a', 'SGkgdGhlcmUu'), beside))),
    responses: carried(messages(said(document('txt', 'a', 'SGkgdGhlcmUu'), beside))),
    messages: carried(messages(said(document('txt', 'a', 'SGkgdGhlcmUu', { context: 'A note.' }), beside))),
  },
  H14: {
    messages: carried(
      messages(said(document('txt', 'Document', 'SGkgdGhlcmUu', { citations: { enabled: true } }), beside)),
      { note: 'the provider says which of its models cite' },
    ),
  },
  H15: { chat: refused('messages[0]') },
  H16: { chat: refused('messages[0]'), responses: refused('input[1]'), messages: refused('messages[0]') },
  H17: { chat: refusedBefore, responses: refusedBefore },
  H18: {
    chat: dropped(['messages[].annotations'], ['messages.1.content.0.annotations']),
    responses: dropped(['input[].content[].annotations'], ['messages.1.content.0.annotations']),
    messages: dropped(['messages[].content[].citations'], ['messages.1.content.0.citations']),
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
    chat: carried(messages(said(t('Hi.'), hour))),
    messages: approximated(shorter, ['messages[].content[].cache_control'], marked(), [
      'tools[].cache_control',
    ]),
  },
  H22: {
    chat: carried(messages(said(t('Hi.'), point))),
    messages: approximated(shorter, ['messages[].content[].cache_control'], messages(said(t('Hi.'), point))),
  },
  H23: {
    chat: carried(messages(said(t('Hi.'), point)), { note: 'one point stands for two marks at one place' }),
    messages: approximated(shorter, ['messages[].content[].cache_control'], marked(), [
      'tools[].cache_control',
    ]),
  },
  H24: { chat: alone('messages[].role'), responses: alone('input[].role') },
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const spec = (name: string, more: Json = {}): Json => ({
  toolSpec: { name, description: 'It tells.', inputSchema: { json: schema }, ...more },
})
const declared = (...tools: Json[]): Json => ({ toolConfig: { tools } })
const choosing = (toolChoice: Json): Json => ({
  toolConfig: { tools: [spec('a'), spec('b')], toolChoice },
})
const called = (toolUseId: string, name: string, input: Json): Json => ({
  toolUse: { toolUseId, name, input },
})
const gave = (toolUseId: string, content: Json[]): Json => ({ toolResult: { toolUseId, content } })
const loop = carried(
  messages(
    said(t('Hi.')),
    answered(called('c1', 'a', { city: 'Oslo' }), called('c2', 'b', {})),
    said(gave('c1', [t('sunny')]), gave('c2', [t('rain')]), t('So?')),
  ),
)
const broken = carried(messages({}, answered(called('c1', 'a', { _raw: '{"city":' })), {}), {
  note: 'as the member `_raw`',
})
const shown = carried(messages(said(t('Hi.')), {}, said(gave('c1', [t('Look:'), png]))))
const oneAtATime = (listed: string) =>
  dropped([listed], ['parallel_tool_calls'], declared(spec('a'), spec('b')))
const others = { note: 'the others are left out' }

const toolCells: Readonly<Record<string, ColumnCells>> = {
  T1: same(
    carried(declared(spec('a', { strict: true }), spec('b')), {
      absent: ['toolConfig.tools.1.toolSpec.strict'],
    }),
  ),
  T2: same(carried(choosing({ auto: {} }))),
  T3: same(carried(choosing({ any: {} }))),
  T4: same(carried({}, { absent: ['toolConfig'], note: 'the tools are left out' })),
  T5: same(carried(choosing({ tool: { name: 'b' } }))),
  T6: {
    chat: carried({ toolConfig: { tools: [spec('b')], toolChoice: { any: {} } } }, others),
    responses: carried({ toolConfig: { tools: [spec('b')], toolChoice: { auto: {} } } }, others),
  },
  T7: {
    chat: oneAtATime('parallel_tool_calls'),
    responses: oneAtATime('parallel_tool_calls'),
    messages: oneAtATime('tool_choice.disable_parallel_tool_use'),
  },
  T8: same(loop),
  T9: { chat: broken, responses: broken },
  T10: { responses: shown, messages: shown },
  T11: {
    messages: carried(
      messages(
        {},
        {},
        said({ toolResult: { toolUseId: 'c1', content: [t('No such city.')], status: 'error' } }),
      ),
    ),
  },
  T12: { chat: refused('tools'), responses: refused('tools') },
  T13: { chat: refused('tools'), responses: refused('tools') },
  T14: same(refused('tools')),
  T15: {
    chat: dropped(['tools[].my_tag'], ['toolConfig.tools.0.toolSpec.my_tag']),
    responses: dropped(['tools[].defer_loading'], ['toolConfig.tools.0.toolSpec.defer_loading']),
    messages: dropped(['tools[].input_examples'], ['toolConfig.tools.0.toolSpec.input_examples']),
  },
  T16: {
    chat: carried({
      toolConfig: {
        tools: [{ toolSpec: { name: 'a', inputSchema: { json: schema } } }],
        toolChoice: { tool: { name: 'a' } },
      },
    }),
  },
  T17: {
    messages: approximated(
      'the name of the tool as text',
      ['messages[].content[].content'],
      messages(said(t('Hi.')), {}, said(gave('c1', [t('b'), t('c')]))),
    ),
  },
  T18: same(carried(choosing({ any: {} }))),
  T19: same(carried(choosing({ auto: {} }))),
  T20: {
    chat: refused('tool_choice'),
    responses: refused('tool_choice'),
    messages: refused('tool_choice.name'),
  },
  T21: {
    chat: dropped(['tools[].function.my_member'], ['toolConfig.tools.0.toolSpec.my_member']),
    responses: dropped(['tools[].my_member'], ['toolConfig.tools.0.toolSpec.my_member']),
    messages: dropped(['tools[].my_member'], ['toolConfig.tools.0.toolSpec.my_member']),
  },
}

const closed = { ...schema, additionalProperties: false }
const open = { type: 'object', properties: { city: { type: 'string', minLength: 2 } } }
const jsonWords = 'Answer with one JSON object and nothing else: no words around it, no code fence.'
const schemaWords = (value: Json) =>
  `Answer with JSON that fits this JSON schema and nothing else: no words around it, no code fence.\n${JSON.stringify(value)}`
const told = (listed: string, words: string) =>
  approximated('told in the prompt, and the answer checked', [listed], {
    system: [t(words)],
    ...messages(said(t('Hello.'))),
  })
const held = carried({
  outputConfig: {
    textFormat: {
      type: 'json_schema',
      structure: { jsonSchema: { name: 'place', schema: JSON.stringify(closed) } },
    },
  },
})
const adaptive = (effort: string) => own({ thinking: { type: 'adaptive' }, output_config: { effort } })
const budget = (budget_tokens: number) => own({ thinking: { type: 'enabled', budget_tokens } })
const level = (maxReasoningEffort: string) =>
  own({ reasoningConfig: { type: 'enabled', maxReasoningEffort } })
const share = { note: 'as a share of the output: 10, 30, 60 or 90 per cent' }
const foreign = (listed: string) =>
  dropped([listed], ['messages.1.content.1'], messages({}, answered(t('Yes.')), {}))
const sampled = carried(config({ temperature: 0.5, topP: 0.9 }))
const asLevel = approximated('as a level', ['thinking.budget_tokens'], level('low'))
const forced = { toolConfig: { toolChoice: { any: {} } } }
const itsBudget = dropped(
  ['reasoning.max_tokens'],
  ['additionalModelRequestFields.thinking.budget_tokens'],
  own({ thinking: { type: 'adaptive' } }),
)

const wishCells: Readonly<Record<string, ColumnCells>> = {
  W1: same(carried(config({ maxTokens: 50 }))),
  W2: { chat: told('response_format', jsonWords), responses: told('text.format', jsonWords) },
  W3: { chat: held, responses: held, messages: told('output_config.format', schemaWords(closed)) },
  W4: {
    chat: told('response_format', schemaWords(open)),
    responses: told('text.format', schemaWords(open)),
    messages: told('output_config.format', schemaWords(open)),
  },
  W5: {
    chat: told('response_format', schemaWords(closed)),
    responses: told('text.format', schemaWords(closed)),
    messages: told('output_config.format', schemaWords(closed)),
  },
  W6: {
    chat: refused('response_format'),
    responses: refused('text.format'),
    messages: refused('output_config.format'),
  },
  W7: {
    chat: carried(adaptive('high')),
    responses: carried(adaptive('high')),
    messages: approximated(
      'as a medium level, because Nova takes no limit of the answer with a high one',
      ['thinking'],
      { ...level('medium'), ...config({ maxTokens: 2_000 }) },
    ),
  },
  W8: {
    chat: carried(budget(6_000), share),
    responses: carried(budget(2_000), share),
    messages: carried(level('medium'), { note: 'as a level' }),
  },
  W9: { chat: carried(budget(2_000)), responses: carried(budget(2_000)), messages: asLevel },
  W10: same(carried(own({ reasoningConfig: { type: 'disabled' } }))),
  W11: {
    chat: carried(adaptive('low'), { note: 'thoughts come as a summary' }),
    responses: carried(adaptive('low'), { note: 'thoughts come as a summary' }),
    messages: carried(level('medium'), { note: 'as a level' }),
  },
  W12: {
    chat: dropped(['reasoning'], ['additionalModelRequestFields'], forced),
    responses: dropped(['reasoning'], ['additionalModelRequestFields'], forced),
    messages: dropped(['thinking'], ['additionalModelRequestFields'], forced),
  },
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
    chat: carried(config({ stopSequences: ['a', 'b', 'c', 'd', 'e'] })),
    messages: carried(config({ stopSequences: ['a', 'b', 'c', 'd', 'e'] })),
  },
  W17: { chat: refused('n') },
  W18: { chat: refused('logprobs'), responses: refused('top_logprobs') },
  W19: same(sampled),
  W20: {
    chat: approximated('as 1', ['temperature'], config({ temperature: 1 })),
    responses: approximated('as 1', ['temperature'], config({ temperature: 1 })),
  },
  W21: {
    chat: dropped(['temperature', 'top_p'], ['inferenceConfig']),
    responses: dropped(['temperature', 'top_p'], ['inferenceConfig']),
    messages: sampled,
  },
  W22: same(carried(own({ inferenceConfig: { topK: 5 } }))),
  W23: { chat: dropped(['seed'], ['inferenceConfig', 'additionalModelRequestFields']) },
  W24: { chat: dropped(['logit_bias'], ['inferenceConfig', 'additionalModelRequestFields']) },
  W25: {
    chat: dropped(['min_p', 'repetition_penalty'], ['inferenceConfig', 'additionalModelRequestFields']),
  },
  W26: {
    chat: dropped(['frequency_penalty', 'presence_penalty'], ['inferenceConfig']),
    responses: dropped(['frequency_penalty', 'presence_penalty'], ['inferenceConfig']),
  },
  W27: {
    chat: dropped(['verbosity'], ['additionalModelRequestFields']),
    responses: dropped(['text.verbosity'], ['additionalModelRequestFields']),
  },
  W28: { chat: refused('service_tier', 404), responses: refused('service_tier', 404) },
  W29: {
    chat: dropped(['prompt_cache_key'], ['additionalModelRequestFields']),
    responses: dropped(['prompt_cache_key'], ['additionalModelRequestFields']),
  },
  W30: {
    chat: dropped(['user'], ['requestMetadata']),
    responses: dropped(['user'], ['requestMetadata']),
    messages: dropped(['metadata.user_id'], ['requestMetadata']),
  },
  W31: {
    chat: carried({ requestMetadata: { job: 'a' } }),
    responses: carried({}, { absent: ['requestMetadata'], note: 'the response says them again' }),
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
  W46: { chat: itsBudget, responses: itsBudget },
  W47: {
    chat: dropped(['reasoning_effort'], ['additionalModelRequestFields.output_config']),
    responses: dropped(['reasoning.effort'], ['additionalModelRequestFields.output_config']),
    messages: dropped(['output_config.effort'], ['additionalModelRequestFields']),
  },
  W48: {
    responses: dropped(['reasoning.context', 'reasoning.mode'], ['reasoning'], adaptive('low')),
    messages: dropped(['output_config.task_budget'], ['output_config'], level('low')),
  },
  W49: { responses: dropped(['text.verbosity'], ['additionalModelRequestFields']) },
  W50: { chat: dropped(['reasoning_effort'], ['reasoning_effort'], level('low')) },
  W51: {
    chat: dropped(['verbosity'], ['additionalModelRequestFields']),
    responses: dropped(['text.verbosity'], ['additionalModelRequestFields']),
  },
  W52: {
    chat: dropped(['reasoning'], ['additionalModelRequestFields.thinking']),
    responses: dropped(['reasoning'], ['additionalModelRequestFields.thinking']),
    messages: asLevel,
  },
  W53: { messages: dropped(['speed'], ['speed']) },
  W54: {
    chat: dropped(['service_tier'], ['serviceTier']),
    responses: dropped(['service_tier'], ['serviceTier']),
    messages: carried({}, { absent: ['serviceTier'], note: 'the default is the standard tier' }),
  },
  W55: {
    chat: dropped(['top_p'], ['inferenceConfig.topP'], config({ temperature: 0.5 })),
    responses: dropped(['top_p'], ['inferenceConfig.topP'], config({ temperature: 0.5 })),
    messages: sampled,
  },
  W56: {
    chat: dropped(
      ['frequency_penalty', 'presence_penalty'],
      ['inferenceConfig.presencePenalty'],
      config({ temperature: 0.5, topP: 0.9 }),
    ),
    responses: sampled,
    messages: sampled,
  },
  W57: {
    chat: carried(config({ stopSequences: ['END'] })),
    messages: carried(config({ stopSequences: ['END'] })),
  },
  W58: same(carried(config({ maxTokens: 50 }))),
  W59: same(carried({}, { absent: ['additionalModelRequestFields'], note: 'the gateway leaves them out' })),
}

/** By the rows about what is asked. */
export const converseAsked: Readonly<Record<string, ColumnCells>> = {
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
const reply = (content: Json[], more: Partial<ConverseReply> = {}): ConverseReply => ({
  content,
  stop: 'end_turn',
  ...more,
})
const url = 'https://example.com'
const asError = { note: 'as an error' }
const errorInstead = impossible('the format has no word for it; the caller gets an error, as in E3')

const never = (why = 'no provider of the format says so'): ColumnAnswer<ConverseReply> => ({
  given: null,
  cells: { chat: impossible(why), responses: impossible(why), messages: impossible(why) },
})

/** An end, in the provider's word and in those of the callers. */
const ended = (native: string, words: Record<Caller, Json>): ColumnAnswer<ConverseReply> => ({
  given: reply([t('So')], { stop: native }),
  cells: {
    chat: carried({ choices: [{ ...words.chat, native_finish_reason: native }] }),
    responses: carried(words.responses),
    messages: carried(words.messages),
  },
})

/** By the rows about what an answer says. */
export const converseAnswered: Readonly<Record<string, ColumnAnswer<ConverseReply>>> = {
  A1: {
    given: reply([t('Größe 東京 🦆')]),
    cells: {
      chat: carried(completion({ role: 'assistant', content: 'Größe 東京 🦆' })),
      responses: carried({ status: 'completed', output: [output('Größe 東京 🦆')] }),
      messages: carried({ content: [block('Größe 東京 🦆')] }),
    },
  },
  A2: {
    given: reply([{ reasoningContent: { reasoningText: { text: 'Hm.', signature: 's1' } } }, t('Yes.')]),
    cells: {
      chat: carried(
        completion({
          reasoning: 'Hm.',
          content: 'Yes.',
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm.', signature: 'hr1.converse@amazon-bedrock.s..s1' },
          ],
        }),
        {
          streamed: completion({
            reasoning: 'Hm.',
            content: 'Yes.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Hm', index: 0 },
              { type: 'reasoning.text', text: '.', index: 0 },
              { type: 'reasoning.text', signature: 'hr1.converse@amazon-bedrock.s..s1', index: 0 },
            ],
          }),
        },
      ),
      responses: carried({
        output: [
          {
            type: 'reasoning',
            content: [{ type: 'reasoning_text', text: 'Hm.' }],
            // The words go with the signature, which is made for them: base64url of "Hm." and the signature.
            encrypted_content: 'hr1.converse@amazon-bedrock.t..SG0u.s1',
          },
          output('Yes.'),
        ],
      }),
      messages: carried({
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'hr1.converse@amazon-bedrock.s..s1' },
          block('Yes.'),
        ],
      }),
    },
  },
  A3: {
    given: reply([{ reasoningContent: { redactedContent: 'd1' } }, t('Yes.')]),
    cells: {
      chat: carried(
        completion({
          content: 'Yes.',
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'hr1.converse@amazon-bedrock.d..d1' }],
        }),
      ),
      responses: carried({
        output: [
          { type: 'reasoning', encrypted_content: 'hr1.converse@amazon-bedrock.d..d1' },
          output('Yes.'),
        ],
      }),
      messages: carried({
        content: [{ type: 'redacted_thinking', data: 'hr1.converse@amazon-bedrock.d..d1' }, block('Yes.')],
      }),
    },
  },
  A4: never('its summaries are thoughts that are shown: A2'),
  A5: {
    given: reply([called('c1', 'a', { city: 'Oslo' }), called('c2', 'b', { n: 1 })], { stop: 'tool_use' }),
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
  A6: never('its refusals are texts'),
  A7: {
    given: reply([
      {
        citationsContent: {
          content: [t('Yes.')],
          citations: [{ title: 'A page', location: { web: { url, domain: 'example.com' } } }],
        },
      },
    ]),
    cells: {
      chat: carried(
        completion({
          content: 'Yes.',
          annotations: [{ type: 'url_citation', url_citation: { url, title: 'A page' } }],
        }),
      ),
      responses: carried({
        output: [output('Yes.', { annotations: [{ type: 'url_citation', url, title: 'A page' }] })],
      }),
      messages: carried({
        content: [
          { text: 'Yes.', citations: [{ type: 'web_search_result_location', url, title: 'A page' }] },
        ],
      }),
    },
  },
  A8: never('the format has none; asking for them is refused'),
  A9: {
    given: reply([t('Here.'), png]),
    cells: {
      chat: carried(
        completion({
          content: 'Here.',
          images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
        }),
      ),
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
        inputTokens: 10,
        cacheReadInputTokens: 60,
        cacheWriteInputTokens: 30,
        outputTokens: 5,
        totalTokens: 105,
      },
    }),
    cells: {
      chat: carried({
        usage: { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
      }),
      responses: carried({
        usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
      }),
      messages: carried({
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 30,
          output_tokens: 5,
        },
      }),
    },
  },
  A11: never('its usage counts thoughts with the rest of the output'),
  A12: ended('end_turn', {
    chat: { finish_reason: 'stop' },
    responses: { status: 'completed' },
    messages: { stop_reason: 'end_turn' },
  }),
  A13: ended('max_tokens', {
    chat: { finish_reason: 'length' },
    responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    messages: { stop_reason: 'max_tokens' },
  }),
  A14: ended('stop_sequence', {
    chat: { finish_reason: 'stop' },
    responses: { status: 'completed' },
    messages: { stop_reason: 'stop_sequence', stop_sequence: null },
  }),
  A15: ended('guardrail_intervened', {
    chat: { finish_reason: 'content_filter' },
    responses: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    messages: { stop_reason: 'refusal' },
  }),
  A16: ended('model_context_window_exceeded', {
    chat: { finish_reason: 'length' },
    responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    messages: { stop_reason: 'model_context_window_exceeded' },
  }),
  A17: never(),
  A18: {
    given: reply([t('So')], { stop: 'malformed_model_output' }),
    cells: {
      chat: carried({
        choices: [{ finish_reason: 'error', native_finish_reason: 'malformed_model_output' }],
      }),
      responses: carried({ status: 'failed' }),
      messages: errorInstead,
    },
  },
  A19: {
    given: reply([t('So')], { stop: 'tired' }),
    cells: {
      chat: carried({ choices: [{ finish_reason: 'error', native_finish_reason: 'tired' }] }, asError),
      responses: carried({ status: 'failed' }, asError),
      messages: errorInstead,
    },
  },
}
