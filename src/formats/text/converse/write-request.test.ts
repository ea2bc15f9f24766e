import { describe, expect, test } from 'bun:test'
import { decodeChatRequest } from '../chat/read-request.ts'
import { selectCodec } from '../formats.ts'
import { decodeMessagesRequest } from '../messages/read-request.ts'
import { decodeResponsesRequest } from '../responses/read-request.ts'
import { testEndpoint, textOf } from '../testing.ts'
import { converseQuirks, type ConverseModel, plainModel } from './quirks.ts'

const context = { sessionIdHeader: null }
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const claude: ConverseModel = {
  ...plainModel,
  thinking: 'budget',
  sampling: 'one_of',
  topK: ['top_k'],
  hasSchema: true,
  hasToolChoice: true,
  hasImages: true,
  hasCachePoints: true,
  hasHourCache: true,
  hasResultStatus: true,
  outputTokensMax: 64_000,
}
const nova: ConverseModel = {
  ...claude,
  thinking: 'effort',
  sampling: 'all',
  topK: ['inferenceConfig', 'topK'],
  hasSchema: false,
  hasHourCache: false,
  hasResultStatus: false,
}
const user = { role: 'user', content: 'hi' }
const said = { role: 'user', content: [{ text: 'hi' }] }

type CallerFormat = 'chat' | 'responses' | 'messages'
const decode = { chat: decodeChatRequest, responses: decodeResponsesRequest, messages: decodeMessagesRequest }

function sentOf(body: object, model = claude, format: CallerFormat = 'chat') {
  const decoded = decode[format](bytesOf({ model: 'a/b', ...body }), context)
  const quirks = converseQuirks({ modelOf: () => model })
  const encoded = selectCodec(format, 'converse').encodeRequest(decoded, testEndpoint('m'), quirks)
  return { ...encoded, wire: JSON.parse(textOf(encoded.body)) }
}

function refusalOf(body: object, model = claude, format: CallerFormat = 'chat'): unknown {
  try {
    return sentOf(body, model, format).wire
  } catch (thrown) {
    return (thrown as Error).message
  }
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
const spec = (name: string, more: object = {}) => ({
  toolSpec: {
    name,
    ...more,
    inputSchema: { json: { type: 'object', properties: { a: { type: 'string' } } } },
  },
})

test('a text without a character is not sent, and a conversation begins with the user', () => {
  const blank = sentOf({ messages: [{ role: 'user', content: ' \n' }] })
  expect(blank.wire.messages).toEqual([{ role: 'user', content: [{ text: '(nothing)' }] }])
  const begun = sentOf({ messages: [{ role: 'assistant', content: 'Hello.' }, user] })
  expect(begun.wire.messages).toEqual([
    { role: 'user', content: [{ text: '(nothing)' }] },
    { role: 'assistant', content: [{ text: 'Hello.' }] },
    said,
  ])
})

test('a mark inside a result stands behind it, and Nova gets none among its tools', () => {
  const cache_control = { type: 'ephemeral' }
  const body = {
    max_tokens: 9,
    tools: [{ name: 'look', input_schema: { type: 'object' }, cache_control }],
    messages: [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'no', cache_control }] },
        ],
      },
    ],
  }
  const { wire, dropped } = sentOf(body, nova, 'messages')
  expect(wire.messages[2].content[1]).toEqual({ cachePoint: { type: 'default' } })
  expect(wire.toolConfig.tools).toHaveLength(1)
  expect(dropped).toEqual(['tools[].cache_control'])
})

test('a tool whose name the provider does not take is refused by its place', () => {
  const tools = [{ type: 'function', function: { name: 'x'.repeat(65), parameters: {} } }]
  expect(refusalOf({ messages: [user], tools })).toStartWith('"tools[0]" has a name')
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
      system: [{ text: 'one' }, { text: 'two' }],
      messages: [
        { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
        { role: 'assistant', content: [{ text: 'c' }] },
        { role: 'user', content: [{ text: 'three' }, { text: 'd' }] },
      ],
    })
    expect(approximated).toEqual(['messages[].role'])
  })

  test('carry instructions as the user’s text when the model takes none, or when there is no other turn', () => {
    const alone = sentOf({ messages: [{ role: 'system', content: 'one' }] })
    expect(alone.wire).toEqual({ messages: [{ role: 'user', content: [{ text: 'one' }] }] })
    const without = sentOf(
      { messages: [{ role: 'system', content: 'one' }, user] },
      { ...claude, hasSystem: false },
    )
    expect(without.wire).toEqual({ messages: [{ role: 'user', content: [{ text: 'one' }, { text: 'hi' }] }] })
  })

  test('have calls and then their results before anything else', () => {
    const { wire } = sentOf({
      messages: [
        user,
        {
          role: 'assistant',
          content: 'look',
          tool_calls: [call('c1', 'look', '{"a":"x"}'), call('c2', 'see', '')],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'found' },
        { role: 'tool', tool_call_id: 'c2', content: '' },
        { role: 'user', content: 'and now?' },
      ],
      tools: [tool('look'), tool('see')],
    })
    expect(wire.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { text: 'look' },
          { toolUse: { toolUseId: 'c1', name: 'look', input: { a: 'x' } } },
          { toolUse: { toolUseId: 'c2', name: 'see', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: 'found' }] } },
          { toolResult: { toolUseId: 'c2', content: [{ text: '(nothing)' }] } },
          { text: 'and now?' },
        ],
      },
    ])
  })

  test('mark the result of a failed tool, in words where the model does not take the mark', () => {
    const messages = [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true }] },
    ]
    const tools = [{ name: 'look', input_schema: { type: 'object', properties: {} } }]
    const body = { max_tokens: 9, messages, tools }
    expect(sentOf(body, claude, 'messages').wire.messages[2].content[0]).toEqual({
      toolResult: { toolUseId: 'c1', content: [{ text: 'no' }], status: 'error' },
    })
    const other = sentOf(body, nova, 'messages')
    expect(other.wire.messages[2].content[0]).toEqual({
      toolResult: { toolUseId: 'c1', content: [{ text: 'The tool failed:' }, { text: 'no' }] },
    })
    expect(other.approximated).toEqual(['messages[].content[].is_error'])
  })

  test('name the tools that a search has found as texts', () => {
    const content = [{ type: 'tool_reference', tool_name: 'look' }]
    const messages = [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'find', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
    ]
    const { wire, approximated } = sentOf({ max_tokens: 9, messages }, claude, 'messages')
    expect(wire.messages[2].content[0].toolResult.content).toEqual([{ text: 'look' }])
    expect(approximated).toEqual(['messages[].content[].content'])
  })

  test('have one point of the cache where a part and the whole prompt are marked', () => {
    const cache_control = { type: 'ephemeral' }
    const content = [{ type: 'text', text: 'a', cache_control }]
    const { wire } = sentOf({ messages: [{ role: 'user', content }], cache_control })
    expect(wire.messages[0].content).toEqual([{ text: 'a' }, { cachePoint: { type: 'default' } }])
  })

  test('have points of the cache after the parts that are marked', () => {
    const messages = [
      {
        role: 'user',
        content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      },
    ]
    const system = [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }]
    const body = { max_tokens: 9, system, messages }
    expect(sentOf(body, claude, 'messages').wire).toEqual({
      system: [{ text: 's' }, { cachePoint: { type: 'default' } }],
      messages: [{ role: 'user', content: [{ text: 'a' }, { cachePoint: { type: 'default', ttl: '1h' } }] }],
      inferenceConfig: { maxTokens: 9 },
    })
    const shorter = sentOf(body, nova, 'messages')
    expect(shorter.wire.messages[0].content[1]).toEqual({ cachePoint: { type: 'default' } })
    expect(shorter.approximated).toEqual(['messages[].content[].cache_control'])
    const none = sentOf(body, plainModel, 'messages')
    expect(none.wire.messages).toEqual([{ role: 'user', content: [{ text: 'a' }] }])
    expect(none.dropped).toEqual(['system[].cache_control', 'messages[].content[].cache_control'])
  })

  test('give back thoughts that this provider signed, and no others', () => {
    const thought = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature })
    const messages = [
      user,
      { role: 'assistant', content: [thought('c2ln'), { type: 'text', text: 'b' }] },
      user,
    ]
    const { wire, dropped } = sentOf({ max_tokens: 9, messages }, claude, 'messages')
    expect(wire.messages[1]).toEqual({ role: 'assistant', content: [{ text: 'b' }] })
    expect(dropped).toEqual(['messages[].content[].thinking'])
  })
})

describe('media', () => {
  const png = 'iVBORw0KGgo='

  test('are pictures by their bytes', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'a' }, image] }]
    expect(sentOf({ messages }).wire.messages[0].content).toEqual([
      { text: 'a' },
      { image: { format: 'png', source: { bytes: png } } },
    ])
    expect(refusalOf({ messages }, plainModel)).toContain(
      'has images, which the chosen provider cannot be sent',
    )
  })

  test('are objects of S3 by their address', () => {
    const image = { type: 'image_url', image_url: { url: 's3://a-bucket/dir/cat.jpg' } }
    const messages = [{ role: 'user', content: [image] }]
    expect(sentOf({ messages }).wire.messages[0].content).toEqual([
      { image: { format: 'jpeg', source: { s3Location: { uri: 's3://a-bucket/dir/cat.jpg' } } } },
    ])
  })

  test('are documents, each with a name of its own and a text beside them', () => {
    const file = (filename: string) => ({
      type: 'file',
      file: { filename, file_data: 'data:application/pdf;base64,JVBERi0=' },
    })
    const messages = [{ role: 'user', content: [file('Jahres/bericht_1.pdf'), file('Jahres:bericht 1.pdf')] }]
    const document = (name: string) => ({ document: { format: 'pdf', name, source: { bytes: 'JVBERi0=' } } })
    expect(sentOf({ messages }).wire.messages[0].content).toEqual([
      document('Jahres bericht 1'),
      document('Jahres bericht 1 2'),
      { text: 'See the document.' },
    ])
  })
})

describe('tools', () => {
  test('are specifications, with the choice among them', () => {
    const tools = [tool('look', { description: 'Looks.', strict: true }), tool('see')]
    const sent = (more: object, model = claude) => sentOf({ messages: [user], tools, ...more }, model)
    expect(sent({}).wire).toEqual({
      messages: [said],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'look',
              description: 'Looks.',
              inputSchema: { json: { type: 'object', properties: { a: { type: 'string' } } } },
              strict: true,
            },
          },
          spec('see'),
        ],
      },
    })
    const choiceOf = (tool_choice: unknown) => sent({ tool_choice }).wire.toolConfig.toolChoice
    expect(choiceOf('auto')).toEqual({ auto: {} })
    expect(choiceOf('required')).toEqual({ any: {} })
    expect(choiceOf({ type: 'function', function: { name: 'see' } })).toEqual({ tool: { name: 'see' } })
    expect(sent({ tool_choice: 'none' }).wire.toolConfig).toBeUndefined()
    const plain = sent({ tool_choice: 'required' }, plainModel)
    expect(plain.wire.toolConfig.toolChoice).toBeUndefined()
    expect(plain.dropped).toEqual(['tool_choice'])
  })

  test('are there for a conversation that has calls, even where the caller offers none', () => {
    const messages = [
      user,
      { role: 'assistant', tool_calls: [call('c1', 'look')] },
      { role: 'tool', tool_call_id: 'c1', content: 'x' },
    ]
    expect(sentOf({ messages }).wire.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object', properties: {} } } } }],
    })
  })

  test('are refused by name where the model has none', () => {
    const body = { messages: [user], tools: [tool('look')] }
    expect(refusalOf(body, { ...plainModel, hasTools: false })).toContain('the tool "look"')
  })
})

describe('settings', () => {
  test('stand in the format’s place, and what only the model knows among its own fields', () => {
    const body = { max_tokens: 7, temperature: 0.5, top_k: 3, stop: ['X'], messages: [user] }
    expect(sentOf(body).wire).toEqual({
      messages: [said],
      inferenceConfig: { maxTokens: 7, stopSequences: ['X'], temperature: 0.5 },
      additionalModelRequestFields: { top_k: 3 },
    })
    expect(sentOf(body, nova).wire.additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 3 } })
    const plain = sentOf(body, plainModel)
    expect(plain.wire.additionalModelRequestFields).toBeUndefined()
    expect(plain.dropped).toEqual(['top_k'])
  })

  test('that a model refuses together are one', () => {
    const { wire, dropped } = sentOf({ temperature: 0.5, top_p: 0.9, messages: [user] })
    expect(wire.inferenceConfig).toEqual({ temperature: 0.5 })
    expect(dropped).toEqual(['top_p'])
  })

  test('of thinking are the model’s own', () => {
    const body = { max_tokens: 8_000, reasoning: { effort: 'low' }, messages: [user] }
    expect(sentOf(body).wire.additionalModelRequestFields).toEqual({
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    })
    const adaptive: ConverseModel = { ...claude, thinking: 'adaptive', hasEffort: true, sampling: 'none' }
    expect(sentOf(body, adaptive).wire.additionalModelRequestFields).toEqual({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    })
    expect(
      sentOf({ ...body, reasoning: { effort: 'none' } }, nova).wire.additionalModelRequestFields,
    ).toEqual({
      reasoningConfig: { type: 'disabled' },
    })
    expect(sentOf(body, plainModel).dropped).toEqual(['reasoning'])
  })

  test('of thinking are levels for Nova, which takes the highest without a limit and without sampling', () => {
    const body = { reasoning: { effort: 'xhigh' }, temperature: 0.5, top_p: 0.9, messages: [user] }
    const high = sentOf(body, nova)
    expect(high.wire).toEqual({
      messages: [said],
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    })
    expect([high.approximated, high.dropped]).toEqual([['reasoning'], ['temperature', 'top_p']])
    const limited = sentOf({ ...body, max_tokens: 9_000 }, nova)
    expect(limited.wire).toMatchObject({
      inferenceConfig: { maxTokens: 9_000, temperature: 0.5 },
      additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: 'medium' } },
    })
    expect(limited.approximated).toEqual(['reasoning'])
    const budget = sentOf({ messages: [user], reasoning: { max_tokens: 2_000 } }, nova)
    expect(budget.wire.additionalModelRequestFields.reasoningConfig.maxReasoningEffort).toBe('low')
    expect(budget.approximated).toEqual(['reasoning.max_tokens'])
  })

  test('of thinking within a budget are left out behind calls without a thought', () => {
    const messages = [
      user,
      { role: 'assistant', content: null, tool_calls: [call('c1', 'look')] },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ]
    const { wire, dropped } = sentOf({ messages, reasoning: { effort: 'low' }, tools: [tool('look')] })
    expect([wire.additionalModelRequestFields, dropped]).toEqual([undefined, ['reasoning']])
  })

  test('of the answer’s form are enforced, or told', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    const response_format = { type: 'json_schema', json_schema: { name: 'thing', schema } }
    const held = sentOf({ messages: [user], response_format })
    const closed = { ...schema, additionalProperties: false }
    expect(held.wire.outputConfig).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name: 'thing', schema: JSON.stringify(closed) } },
      },
    })
    expect(held.promised).toBeUndefined()
    const told = sentOf({ messages: [user], response_format }, nova)
    expect(told.wire.system[0].text).toStartWith('Answer with JSON that fits this JSON schema')
    expect(told.approximated).toEqual(['response_format'])
    expect(told.promised).toMatchObject({ kind: 'schema' })
  })

  test('of the tier and of metadata are carried as far as the format goes', () => {
    const sent = sentOf({ messages: [user], service_tier: 'default', metadata: { team: 'a b' }, user: 'u' })
    expect(sent.wire).toMatchObject({ serviceTier: { type: 'default' }, requestMetadata: { team: 'a b' } })
    expect(sent.dropped).toEqual(['user'])
    expect(sentOf({ messages: [user], metadata: { team: 'ü' } }).dropped).toEqual(['metadata'])
  })

  test('that the format lacks are refused where they change the answer', () => {
    expect(refusalOf({ messages: [user], n: 2 })).toContain('n')
    expect(refusalOf({ messages: [user], logprobs: true })).toContain('logprobs')
  })
})

test('a stream is asked for by the address and by what is accepted', () => {
  const { headers, wire } = sentOf({ messages: [user], stream: true })
  expect(headers).toEqual({ accept: 'application/vnd.amazon.eventstream' })
  expect(wire).toEqual({ messages: [said] })
})
