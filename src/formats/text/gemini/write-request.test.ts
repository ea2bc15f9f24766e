import { describe, expect, test } from 'bun:test'
import { decodeChatRequest } from '../chat/read-request.ts'
import { testEndpoint, textOf } from '../testing.ts'
import { selectCodec } from '../formats.ts'
import { decodeMessagesRequest } from '../messages/read-request.ts'
import { decodeResponsesRequest } from '../responses/read-request.ts'
import { sealReasoning } from '../thoughts/reasoning-envelope.ts'
import { geminiQuirks, type GeminiModel } from './quirks.ts'

const context = { sessionIdHeader: null }
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const newest: GeminiModel = {
  thinking: { kind: 'level', levelMin: 'LOW' },
  hasSystem: true,
  hasResultMedia: true,
  needsSignatures: true,
  hasFormatBesideTools: true,
  outputTokensMax: 65_536,
}
const older: GeminiModel = {
  ...newest,
  thinking: { kind: 'budget', min: 128, max: 32_768, canBeOff: false },
  hasResultMedia: false,
  needsSignatures: false,
  hasFormatBesideTools: false,
}
const user = { role: 'user', content: 'hi' }

type CallerFormat = 'chat' | 'responses' | 'messages'

function sentOf(
  body: object,
  { model = older, format = 'chat' }: { model?: GeminiModel; format?: CallerFormat } = {},
) {
  const decode = {
    chat: decodeChatRequest,
    responses: decodeResponsesRequest,
    messages: decodeMessagesRequest,
  }
  const decoded = decode[format](bytesOf({ model: 'a/b', ...body }), context)
  const quirks = geminiQuirks({ modelOf: () => model })
  const encoded = selectCodec(format, 'gemini').encodeRequest(decoded, testEndpoint('m'), quirks)
  return { ...encoded, wire: JSON.parse(textOf(encoded.body)) }
}

const call = (id: string, name: string, text = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})
const tool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { a: { type: 'string' } } }, ...more },
})

describe('turns', () => {
  test('have roles that alternate, with instructions apart', () => {
    const { wire, approximated } = sentOf({
      messages: [
        { role: 'system', content: 'one' },
        { role: 'developer', content: 'two' },
        { role: 'user', content: 'a' },
        { role: 'user', content: [{ type: 'text', text: 'b' }] },
        { role: 'assistant', content: 'c' },
        { role: 'system', content: 'three' },
        { role: 'user', content: 'd' },
      ],
    })
    expect(wire).toEqual({
      systemInstruction: { parts: [{ text: 'one' }, { text: 'two' }] },
      contents: [
        { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
        { role: 'model', parts: [{ text: 'c' }] },
        { role: 'user', parts: [{ text: 'three' }, { text: 'd' }] },
      ],
    })
    expect(approximated).toEqual(['messages[].role'])
  })

  test('carry instructions as the user’s text when the model takes no system turn, or when there is no other turn', () => {
    const messages = [{ role: 'system', content: 'one' }, user]
    const { wire } = sentOf({ messages }, { model: { ...older, hasSystem: false } })
    expect(wire).toEqual({ contents: [{ role: 'user', parts: [{ text: 'one' }, { text: 'hi' }] }] })
    const alone = sentOf({ messages: messages.slice(0, 1) })
    expect(alone.wire).toEqual({ contents: [{ role: 'user', parts: [{ text: 'one' }] }] })
    expect(alone.approximated).toEqual(['messages[].role'])
  })

  test('give results the names and the order of their calls', () => {
    const { wire } = sentOf({
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('c1', 'add', '{"a":"1"}'), call('c2', 'sub', 'broken'), call('c3', 'noop', '')],
        },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '{"$ref":"x"}' }] },
        { role: 'user', content: 'so?' },
      ],
      tools: [tool('add')],
    })
    expect(wire.contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'c1', name: 'add', args: { a: '1' } } },
          { functionCall: { id: 'c2', name: 'sub', args: { _raw: 'broken' } } },
          { functionCall: { id: 'c3', name: 'noop', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'add', response: { output: '{"$ref":"x"}' } } },
          { functionResponse: { id: 'c2', name: 'sub', response: { output: 'two' } } },
          { text: 'so?' },
        ],
      },
    ])
  })

  test('of a result without its call are refused by place', () => {
    const messages = [user, { role: 'tool', tool_call_id: 'c9', content: 'two' }]
    expect(() => sentOf({ messages })).toThrow('"messages[1]"')
  })

  test('tell a tool that failed, and show its images where the model takes them', () => {
    const image = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
    const body = {
      max_tokens: 10,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              is_error: true,
              content: [
                { type: 'text', text: 'dark' },
                { type: 'image', source: image },
              ],
            },
          ],
        },
      ],
    }
    const inline = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
    const inside = sentOf(body, { format: 'messages', model: newest })
    const response = { id: 't1', name: 'look', response: { error: 'dark' } }
    expect(inside.wire.contents[2].parts).toEqual([{ functionResponse: { ...response, parts: [inline] } }])
    const behind = sentOf(body, { format: 'messages' })
    expect(behind.wire.contents[2].parts).toEqual([
      { functionResponse: response },
      { text: 'From the tool call t1:' },
      inline,
    ])
    expect(behind.approximated).toEqual(['messages[].content[].content'])
  })

  test('show a document of a tool inside its result, and its name among the words', () => {
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }
    const input = [
      user,
      { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'here' }, file] },
    ]
    const { wire } = sentOf({ input }, { format: 'responses', model: newest })
    const [{ functionResponse }] = wire.contents[2].parts
    expect(functionResponse.response).toEqual({ output: 'here\na.pdf' })
    expect(functionResponse.parts).toEqual([{ inlineData: { mimeType: 'application/pdf', data: 'AAAA' } }])
  })

  test('keep the digits of the arguments of calls, and as text those that are nested too deep', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const messages = [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('c1', 'a', '{"id":12345678901234567890}'), call('c2', 'a', deep)],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
    ]
    const { wire, body } = sentOf({ messages })
    expect(textOf(body)).toContain('"args":{"id":12345678901234567890}')
    expect(wire.contents[1].parts[1].functionCall.args).toEqual({ _raw: deep })
  })

  test('carry images, sound and documents as bytes', () => {
    const { wire } = sentOf({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } },
            { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' } },
            { type: 'image_url', image_url: { url: 'https://youtu.be/abc' } },
          ],
        },
      ],
    })
    expect(wire.contents[0].parts).toEqual([
      { inlineData: { mimeType: 'image/webp', data: 'AAAA' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'BBBB' } },
      { text: 'a.pdf' },
      { inlineData: { mimeType: 'application/pdf', data: 'CCCC' } },
      { fileData: { fileUri: 'https://youtu.be/abc' } },
    ])
  })
})

describe('signatures', () => {
  const detail = (data: string, id: string | null, index: number) => ({
    type: 'reasoning.encrypted',
    data,
    id,
    index,
    format: 'google-gemini-v1',
  })

  test('go back to the calls and the texts that they came with', () => {
    const { wire, dropped } = sentOf(
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: 'I look.',
            reasoning_details: [
              { type: 'reasoning.summary', summary: 'Hm.', index: 0, format: 'google-gemini-v1' },
              detail('of-text', null, 1),
              detail('of-call', 'c1', 2),
            ],
            tool_calls: [call('c1', 'add'), call('c2', 'add')],
          },
          { role: 'tool', tool_call_id: 'c1', content: '1' },
          { role: 'tool', tool_call_id: 'c2', content: '2' },
        ],
      },
      { model: newest },
    )
    expect(wire.contents[1].parts).toEqual([
      { text: 'Hm.', thought: true },
      { text: 'I look.', thoughtSignature: 'of-text' },
      { functionCall: { id: 'c1', name: 'add', args: {} }, thoughtSignature: 'of-call' },
      { functionCall: { id: 'c2', name: 'add', args: {} } },
    ])
    expect(dropped).toEqual([])
  })

  test('that came after the text are sent after it', () => {
    const { wire } = sentOf(
      {
        max_tokens: 5,
        messages: [
          user,
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Three.' },
              {
                type: 'redacted_thinking',
                data: sealReasoning({ id: null, signature: null, sealed: 'behind', origin: 'gemini' }),
              },
            ],
          },
          user,
        ],
      },
      { format: 'messages', model: newest },
    )
    expect(wire.contents[1].parts).toEqual([{ text: 'Three.' }, { text: '', thoughtSignature: 'behind' }])
  })

  test('that are lost are replaced by Google’s marker, once for a step, and thoughts of other providers are left out', () => {
    const body = {
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          reasoning: 'other words',
          tool_calls: [call('c1', 'add'), call('c2', 'add')],
        },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
      ],
    }
    const { wire, dropped } = sentOf(body, { model: newest })
    const signatures = wire.contents[1].parts.map(
      (part: { thoughtSignature?: string }) => part.thoughtSignature,
    )
    expect(signatures).toEqual(['skip_thought_signature_validator', undefined])
    expect(dropped).toEqual(['messages[].reasoning'])
    expect(sentOf(body).wire.contents[1].parts[0]).not.toHaveProperty('thoughtSignature')
  })
})

describe('tools', () => {
  const configOf = (body: object) =>
    sentOf({ messages: [user], tools: [tool('f'), tool('g')], ...body }).wire.toolConfig
      ?.functionCallingConfig

  test('are declared with their schemas as they are', () => {
    const parameters = { $defs: { x: { type: 'string' } }, type: 'object', additionalProperties: false }
    const { wire } = sentOf({
      messages: [user],
      tools: [
        tool('f', { parameters, description: 'does f' }),
        { type: 'function', function: { name: 'g' } },
      ],
    })
    expect(wire.tools).toEqual([
      {
        functionDeclarations: [
          { name: 'f', description: 'does f', parametersJsonSchema: parameters },
          { name: 'g', description: '' },
        ],
      },
    ])
  })

  test.each([
    [{}, undefined],
    [{ tool_choice: 'auto' }, { mode: 'AUTO' }],
    [{ tool_choice: 'none' }, { mode: 'NONE' }],
    [{ tool_choice: 'required' }, { mode: 'ANY' }],
    [
      { tool_choice: { type: 'function', function: { name: 'g' } } },
      { mode: 'ANY', allowedFunctionNames: ['g'] },
    ],
    [
      {
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'g' } }] },
        },
      },
      { mode: 'VALIDATED', allowedFunctionNames: ['g'] },
    ],
    [{ tools: [tool('f', { strict: true })] }, { mode: 'VALIDATED' }],
  ])('%j is asked as %j', (body, config) => {
    expect(configOf(body)).toEqual(config)
  })

  test('that only another provider runs, or that take any text, are refused', () => {
    expect(() => configOf({ tools: [{ type: 'custom', custom: { name: 'c' } }] })).toThrow('"tools"')
  })

  test('one at a time cannot be asked for, and the loss is listed', () => {
    const { dropped } = sentOf({ messages: [user], tools: [tool('f')], parallel_tool_calls: false })
    expect(dropped).toEqual(['parallel_tool_calls'])
  })
})

describe('the form of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const asked = (given: object, more: object = {}) => ({
    messages: [user],
    response_format: { type: 'json_schema', json_schema: { name: 's', schema: given } },
    ...more,
  })

  test('is asked by its schema', () => {
    const { wire, promised } = sentOf(asked(schema))
    expect(wire.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
    expect(promised).toBeUndefined()
    const json = sentOf({ messages: [user], response_format: { type: 'json_object' } })
    expect(json.wire.generationConfig).toEqual({ responseMimeType: 'application/json' })
  })

  test('is checked as well where the provider does not know a keyword', () => {
    const short = { ...schema, properties: { a: { type: 'string', maxLength: 3 } } }
    const { wire, promised, approximated } = sentOf(asked(short))
    expect(wire.generationConfig.responseJsonSchema).toEqual(short)
    expect(promised).toEqual({ kind: 'schema', schema: short })
    expect(approximated).toEqual(['response_format'])
    expect(wire.systemInstruction.parts[0].text).toContain('"maxLength":3')
  })

  test('is described in the prompt to an older model, which refuses a schema together with tools', () => {
    const { wire, promised } = sentOf(asked(schema, { tools: [tool('f')] }))
    expect(wire).not.toHaveProperty('generationConfig')
    expect(promised).toEqual({ kind: 'schema', schema })
    const whole = sentOf(asked(schema, { tools: [tool('f')] }), { model: newest })
    expect(whole.wire.generationConfig).toMatchObject({ responseJsonSchema: schema })
    expect(whole.promised).toBeUndefined()
  })
})

describe('thinking', () => {
  const level = { ...older, thinking: { kind: 'level', levelMin: 'MINIMAL' } } as const
  const off = { ...older, thinking: { kind: 'budget', min: 512, max: 24_576, canBeOff: true } } as const
  const none = { ...older, thinking: { kind: 'none' } } as const
  const limit = { max_tokens: 10_000 }

  test.each([
    [{ effort: 'low' }, newest, { thinkingLevel: 'LOW', includeThoughts: true }, []],
    [{ effort: 'minimal' }, newest, { thinkingLevel: 'LOW', includeThoughts: true }, ['reasoning']],
    [{ effort: 'minimal' }, level, { thinkingLevel: 'MINIMAL', includeThoughts: true }, []],
    [{ effort: 'xhigh' }, level, { thinkingLevel: 'HIGH', includeThoughts: true }, ['reasoning']],
    [{ effort: 'none' }, level, { thinkingLevel: 'MINIMAL' }, ['reasoning']],
    [
      { max_tokens: 9_000 },
      level,
      { thinkingLevel: 'MEDIUM', includeThoughts: true },
      ['reasoning.max_tokens'],
    ],
    [{ enabled: true }, level, { includeThoughts: true }, []],
    [{ effort: 'high', exclude: true }, older, { thinkingBudget: 6_000 }, []],
    [{ effort: 'minimal' }, older, { thinkingBudget: 200, includeThoughts: true }, []],
    [{ effort: 'max' }, older, { thinkingBudget: 9_999, includeThoughts: true }, []],
    [{ effort: 'none' }, older, { thinkingBudget: 128 }, ['reasoning']],
    [{ effort: 'none' }, off, { thinkingBudget: 0 }, []],
    [{ max_tokens: 100 }, off, { thinkingBudget: 512, includeThoughts: true }, ['reasoning.max_tokens']],
  ])('%j is asked of the model', (reasoning, model, config, approximated) => {
    const sent = sentOf({ messages: [user], reasoning, ...limit }, { model })
    expect<unknown>(sent.wire.generationConfig.thinkingConfig).toEqual(config)
    expect<unknown>(sent.approximated).toEqual(approximated)
  })

  test('is left out and listed for a model that does not think', () => {
    const sent = sentOf({ messages: [user], reasoning: { effort: 'low' } }, { model: none })
    expect(sent.wire).not.toHaveProperty('generationConfig')
    expect(sent.dropped).toEqual(['reasoning'])
  })

  test('is shown to a caller of responses who asks for a summary', () => {
    const configOf = (reasoning: object) =>
      sentOf({ input: 'hi', reasoning }, { format: 'responses', model: newest }).wire.generationConfig
        .thinkingConfig
    expect(configOf({ effort: 'low' })).toEqual({ thinkingLevel: 'LOW' })
    expect(configOf({ effort: 'low', summary: 'auto' })).toEqual({
      thinkingLevel: 'LOW',
      includeThoughts: true,
    })
  })
})

test('everything else has its own name, or is listed', () => {
  const { wire, dropped } = sentOf({
    messages: [{ ...user, name: 'ann' }],
    max_tokens: 9,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 4,
    seed: 7,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    stop: ['a', 'b'],
    n: 2,
    logprobs: true,
    top_logprobs: 3,
    service_tier: 'flex',
    min_p: 0.1,
    repetition_penalty: 1.1,
    logit_bias: { 1: 1 },
    verbosity: 'low',
    prompt_cache_key: 'k',
    user: 'u',
    metadata: { a: 'b' },
  })
  expect(wire).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: {
      maxOutputTokens: 9,
      stopSequences: ['a', 'b'],
      candidateCount: 2,
      responseLogprobs: true,
      logprobs: 3,
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
    },
  })
  expect([...dropped].toSorted()).toEqual([
    'logit_bias',
    'messages[].name',
    'metadata',
    'min_p',
    'prompt_cache_key',
    'repetition_penalty',
    'service_tier',
    'user',
    'verbosity',
  ])
})

test('more texts to stop at than the provider takes are refused', () => {
  const body = { max_tokens: 5, messages: [user], stop_sequences: ['1', '2', '3', '4', '5', '6'] }
  expect(() => sentOf(body, { format: 'messages' })).toThrow('"stop_sequences"')
})
