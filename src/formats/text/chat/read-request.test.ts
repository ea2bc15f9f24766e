import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TextCall } from '../../../canonical/call.ts'
import { GatewayError } from '../../../core/errors.ts'
import { toShortId } from './pass-request-history.ts'
import { encodeChatRequest } from './pass-request.ts'
import { chatQuirks, openAiMembers, type ChatQuirkOptions } from './quirks.ts'
import { decodeChatRequest } from './read-request.ts'
import { chatRequestSchema } from './request-schema.ts'
import { testEndpoint, textOf } from '../testing.ts'

const messages = [{ role: 'user', content: 'hi' }]
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

function decode(body: object, sessionIdHeader: string | null = null): TextCall {
  return decodeChatRequest(bytesOf({ model: 'openai/gpt-4o-mini', messages, ...body }), { sessionIdHeader })
}

/** This many pairs of metadata. */
function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'value']))
}

function refusalOf(decoding: () => unknown): GatewayError {
  try {
    decoding()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('it was accepted')
}

function encode(body: object, options: ChatQuirkOptions = {}) {
  const { body: bytes, dropped } = encodeChatRequest(
    decode(body),
    testEndpoint('up/stream'),
    chatQuirks(options),
  )
  return { wire: JSON.parse(textOf(bytes)) as Record<string, unknown>, dropped }
}

describe('decoding a chat request', () => {
  test('reads what routing, holding and billing need', () => {
    const call = decode({
      models: ['a/b'],
      max_tokens: 10,
      max_completion_tokens: 20,
      n: 2,
      stream: true,
      temperature: 0.5,
      tools: [{ type: 'function', function: { name: 'f' } }],
      response_format: { type: 'json_schema', json_schema: { name: 's' } },
      user: 'u',
      session_id: 's',
      trace: { trace_id: 't' },
      provider: { only: ['groq'], sort: 'price', max_price: { prompt: '0.5', completion: 2 } },
      top_k: null,
    })
    expect(call).toMatchObject({
      kind: 'text',
      format: 'chat',
      operation: 'chat_completions',
      model: 'openai/gpt-4o-mini',
      fallbackModels: ['a/b'],
      stream: true,
      sessionId: 's',
      userId: 'u',
      trace: { trace_id: 't' },
      demand: { outputTokensMax: 20, choices: 2, audioMilliseconds: 0, characters: 0 },
      preferences: {
        only: ['groq'],
        sort: 'price',
        maxPrice: { prompt: 500_000_000n, completion: 2_000_000_000n },
      },
      dropped: [],
    })
    expect(call.parameters.toSorted()).toEqual([
      'max_tokens',
      'response_format',
      'structured_outputs',
      'temperature',
      'tools',
    ])
  })

  test('takes the first of "models" when "model" is missing', () => {
    const bytes = bytesOf({ models: ['a/b', 'c/d'], messages })
    expect(decodeChatRequest(bytes, { sessionIdHeader: null })).toMatchObject({
      model: 'a/b',
      fallbackModels: ['c/d'],
    })
  })

  test.each([
    [{ model: undefined }, 'model'],
    [{ model: 5 }, 'model'],
    [{ model: '' }, 'model'],
    [{ messages: undefined }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: 'hi' }, 'messages'],
    [{ messages: [1] }, 'messages[0]'],
    [
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'bot', content: 'b' },
        ],
      },
      'messages[1].role',
    ],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ temperature: 'warm' }, 'temperature'],
    [{ temperature: 2.1 }, 'temperature'],
    [{ top_p: -0.1 }, 'top_p'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ n: 0 }, 'n'],
    [{ stream: 'yes' }, 'stream'],
    [{ top_logprobs: 21 }, 'top_logprobs'],
    [{ tools: [{}] }, 'tools[0].type'],
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ session_id: 'x'.repeat(257) }, 'session_id'],
    [{ user: 'x'.repeat(257) }, 'user'],
    [{ metadata: pairs(17) }, 'metadata'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
    [{ provider: 'groq' }, 'provider'],
    [{ provider: { onyl: ['groq'] } }, 'provider.onyl'],
    [{ provider: { only: 'groq' } }, 'provider.only'],
    [{ provider: { data_collection: 'maybe' } }, 'provider.data_collection'],
    [{ provider: { max_price: { prompt: 'cheap' } } }, 'provider.max_price.prompt'],
    [{ provider: { max_price: { prompt: -1 } } }, 'provider.max_price.prompt'],
  ])('refuses %j and names %s', (body, param) => {
    const error = refusalOf(() => decode(body))
    expect(error.type).toBe('invalid_request')
    expect(error.param).toBe(param)
    expect(error.message).toContain(`"${param}"`)
  })

  test('accepts sixteen pairs of metadata, and names the number when there is one too many', () => {
    expect(() => decode({ metadata: pairs(16) })).not.toThrow()
    expect(refusalOf(() => decode({ metadata: pairs(17) })).message).toContain('at most 16 pairs')
  })

  test('accepts null for every optional member, and unknown members', () => {
    const call = decode({
      temperature: null,
      tools: null,
      provider: null,
      n: null,
      user: null,
      whatever: { a: 1 },
    })
    expect(call.parameters).toEqual([])
    expect(call.demand.choices).toBe(1)
  })

  test('accepts null wherever the contract lets a preference be null', () => {
    const percentiles = { p50: null, p75: null, p90: 2, p99: null }
    const provider = {
      order: null,
      only: null,
      ignore: null,
      allow_fallbacks: null,
      require_parameters: null,
      data_collection: null,
      zdr: null,
      enforce_distillable_text: null,
      quantizations: null,
      sort: { by: null, partition: null },
      preferred_min_throughput: percentiles,
      preferred_max_latency: percentiles,
    }
    expect(decode({ provider }).preferences).toEqual({
      ...decode({}).preferences,
      preferredThroughputMin: { p90: 2 },
      preferredLatencyMaxMs: { p90: 2000 },
    })
    expect(decode({ provider: null }).preferences).toEqual(decode({}).preferences)
  })

  test('counts 256 characters, not bytes, for sessions and users', () => {
    expect(decode({ session_id: '🦆'.repeat(256) }).sessionId).toBe('🦆'.repeat(256))
  })

  test('lets the body’s session win, and then does not look at the header', () => {
    expect(decode({ session_id: 'body' }, 'x'.repeat(300)).sessionId).toBe('body')
    expect(decode({}, 'header').sessionId).toBe('header')
    expect(refusalOf(() => decode({}, 'x'.repeat(257))).param).toBe('x-session-id')
  })

  test('lists what it accepts without effect', () => {
    expect(
      decode({
        plugins: [{ id: 'context-compression' }, { id: 'web', enabled: false }],
        transforms: ['middle-out'],
        route: null,
        provider: { sort: 'exacto' },
      }).dropped,
    ).toEqual(['provider.sort', 'plugins', 'transforms'])
  })

  test('estimates text by bytes, more where it is not ASCII, and media never by their encoding', () => {
    const tokens = (content: unknown) => decode({ messages: [{ role: 'user', content }] }).demand.inputTokens
    expect(tokens('a'.repeat(3_000))).toBeGreaterThanOrEqual(1_000)
    expect(tokens('a'.repeat(3_000))).toBeLessThan(1_030)
    expect(tokens('東'.repeat(1_000))).toBeGreaterThanOrEqual(1_500)
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(900_000)}` } }
    expect(tokens([{ type: 'text', text: 'what?' }, image])).toBeLessThan(2_000)
    const audio = { type: 'input_audio', input_audio: { data: 'A'.repeat(400_000), format: 'wav' } }
    expect(tokens([audio])).toBeLessThan(500)
    const heard = decode({ messages: [{ role: 'user', content: [audio, image] }] }).demand
    expect(heard.audioInputTokens).toBe(235)
    expect(decode({ messages: [{ role: 'user', content: [image] }] }).demand).not.toHaveProperty(
      'audioInputTokens',
    )
  })

  test('of a megabyte checks the structure without building it', () => {
    const body = {
      messages: Array.from({ length: 500 }, () => ({ role: 'user', content: 'word "x" \\ \n'.repeat(200) })),
    }
    const call = decode(body)
    expect(call.demand.inputTokens).toBeGreaterThan(300_000)
    const broken = new TextDecoder().decode(bytesOf({ model: 'm', ...body })).slice(0, -10)
    expect(
      refusalOf(() => decodeChatRequest(new TextEncoder().encode(broken), { sessionIdHeader: null })).type,
    ).toBe('invalid_request')
  })

  test('agrees with its own schema on the documentation’s example', () => {
    expect(
      chatRequestSchema.safeParse({ model: 'openai/gpt-4o-mini', messages, provider: { only: ['groq'] } })
        .success,
    ).toBe(true)
    expect(chatRequestSchema.safeParse({ model: 'm', messages: [] }).success).toBe(false)
  })
})

describe('encoding for an upstream', () => {
  test('changes the model, removes the gateway’s own members, and leaves all other bytes unchanged', () => {
    const text =
      '{ "model":"openai/x", "messages":[{"role":"user","content":"\\u00e9  é"}], "provider":{"sort":"price"}, "temperature" : 1.0, "session_id":"s","trace":{},"models":[],"usage":{"include":true},"headrace":{} }'
    const call = decodeChatRequest(new TextEncoder().encode(text), { sessionIdHeader: null })
    const { body, dropped } = encodeChatRequest(call, testEndpoint('real-x'), chatQuirks())
    expect(textOf(body)).toBe(
      '{"model":"real-x","messages":[{"role":"user","content":"\\u00e9  é"}],"temperature" : 1.0}',
    )
    expect(dropped).toEqual([])
  })

  test('means the same whatever the order of the members', () => {
    const body = {
      model: 'm',
      messages,
      temperature: 1,
      stream: true,
      seed: 7,
      user: 'u',
      top_k: 3,
      provider: {},
      odd: [1],
    }
    const expected = encode(body, { renames: { seed: 'random_seed' } })
    fc.assert(
      fc.property(
        fc.shuffledSubarray(Object.keys(body), { minLength: Object.keys(body).length }),
        (names) => {
          const shuffled = Object.fromEntries(names.map((name) => [name, body[name as keyof typeof body]]))
          const call = decodeChatRequest(bytesOf(shuffled), { sessionIdHeader: null })
          const encoded = encodeChatRequest(
            call,
            testEndpoint('up/stream'),
            chatQuirks({ renames: { seed: 'random_seed' } }),
          )
          expect(JSON.parse(textOf(encoded.body))).toEqual(expected.wire)
          expect(new Set(encoded.dropped)).toEqual(new Set(expected.dropped))
        },
      ),
    )
  })

  test('asks for usage whenever it streams, and only then', () => {
    expect(encode({ stream: true }).wire['stream_options']).toEqual({ include_usage: true })
    expect(
      encode({ stream: true, stream_options: { include_usage: false, include_obfuscation: false } }).wire[
        'stream_options'
      ],
    ).toEqual({
      include_usage: true,
      include_obfuscation: false,
    })
    expect(encode({ stream: false, stream_options: { include_usage: true } }).wire).not.toHaveProperty(
      'stream_options',
    )
    expect(encode({ stream: true }, { streamOptions: 'drop' }).wire).not.toHaveProperty('stream_options')
  })

  test('spells the output limit as the provider does, the newer name winning', () => {
    expect(encode({ max_tokens: 5 }, { maxTokensField: 'max_completion_tokens' }).wire).toMatchObject({
      max_completion_tokens: 5,
    })
    const asSent = { maxTokensField: 'as_sent' } as const
    expect(encode({ max_tokens: 5 }, asSent).wire).toMatchObject({ max_tokens: 5 })
    const equal = encode({ max_tokens: 100_000, max_completion_tokens: 1 }, asSent).wire
    expect(equal).toMatchObject({ max_tokens: 1, max_completion_tokens: 1 })
    const both = encode({ max_tokens: 5, max_completion_tokens: 6 }).wire
    expect(both['max_tokens']).toBe(6)
    expect(both).not.toHaveProperty('max_completion_tokens')
  })

  test('drops and lists members that the provider does not know, and forwards them where configured', () => {
    const body = { top_k: 1, odd: 2, store: true, logit_bias: {} }
    expect(encode(body, { drops: ['logit_bias'] })).toMatchObject({
      dropped: ['top_k', 'odd', 'store', 'logit_bias'],
    })
    expect(encode(body, { accepts: [...openAiMembers, 'top_k'], unknownMembers: 'forward' })).toMatchObject({
      wire: { top_k: 1, odd: 2, store: true },
      dropped: [],
    })
  })

  test('refuses by name members that the answer depends on and that the provider ignores', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const refuses = ['tool_choice', 'logprobs', 'top_logprobs', 'functions', 'function_call']
    const asked: [name: string, body: object][] = [
      ['tool_choice', { tools, tool_choice: 'required' }],
      ['tool_choice', { tools, tool_choice: 'none' }],
      ['tool_choice', { tools, tool_choice: { type: 'function', function: { name: 'f' } } }],
      ['logprobs', { logprobs: true }],
      ['top_logprobs', { top_logprobs: 2 }],
      ['functions', { functions: [{ name: 'f' }] }],
      ['modalities', { modalities: ['text', 'audio'] }],
      ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
      ['web_search_options', { web_search_options: {} }],
      ['image_config', { image_config: { aspect_ratio: '1:1' } }],
    ]
    const choice = { functions: [{ name: 'f' }], function_call: { name: 'f' } }
    expect(refusalOf(() => encode(choice, { refuses: ['function_call'] })).param).toBe('function_call')
    for (const unknownMembers of ['drop', 'forward'] as const)
      for (const [name, body] of asked)
        expect(refusalOf(() => encode(body, { refuses, unknownMembers })).param).toBe(name)
    const accepts = [...openAiMembers, 'image_config']
    for (const [name, body] of asked) expect(encode(body, { accepts }).wire).toHaveProperty(name)
  })

  test('neither refuses a default value nor sends or lists it where the provider ignores the member', () => {
    const refuses = ['tool_choice', 'logprobs', 'top_logprobs', 'functions', 'function_call']
    const defaults = [
      { tool_choice: 'auto', logprobs: false, top_logprobs: 0, function_call: 'auto' },
      { tool_choice: 'none', function_call: 'none', modalities: ['text'] },
      { tool_choice: null, logprobs: null, modalities: null, audio: null, image_config: null },
    ]
    for (const body of defaults)
      expect(encode(body, { refuses })).toEqual({ wire: { model: 'up/stream', messages }, dropped: [] })
  })

  test('never forwards a null, which several hosts refuse', () => {
    expect(encode({ temperature: null, tools: null, stream: null }).wire).toEqual({
      model: 'up/stream',
      messages,
    })
  })

  test('carries reasoning as an effort, as it is, or not at all', () => {
    const reasoning = { effort: 'high', exclude: true }
    expect(encode({ reasoning })).toMatchObject({
      wire: { reasoning_effort: 'high' },
      dropped: [],
    })
    expect(encode({ reasoning: { enabled: false } }).wire).toMatchObject({ reasoning_effort: 'none' })
    expect(encode({ reasoning }, { reasoning: 'object' }).wire).toMatchObject({ reasoning })
    expect(encode({ reasoning }, { reasoning: 'drop' }).dropped).toEqual(['reasoning'])
  })

  test('of two efforts sends the one in `reasoning`, and lists the other', () => {
    const both = { reasoning: { effort: 'low' }, reasoning_effort: 'high' }
    expect(encode(both)).toMatchObject({ wire: { reasoning_effort: 'low' }, dropped: ['reasoning_effort'] })
    const asObject = encode(both, { reasoning: 'object' })
    expect(asObject).toMatchObject({ wire: { reasoning: { effort: 'low' } }, dropped: ['reasoning_effort'] })
    expect(asObject.wire).not.toHaveProperty('reasoning_effort')
    expect(encode(both, { reasoning: 'as_sent' })).toMatchObject({ wire: both, dropped: [] })
    const alike = { reasoning: { effort: 'low' }, reasoning_effort: 'low' }
    expect(encode(alike)).toMatchObject({ wire: { reasoning_effort: 'low' }, dropped: [] })
    const noThought = { reasoning: { enabled: false, effort: 'high' } }
    expect(encode(noThought)).toMatchObject({
      wire: { reasoning_effort: 'none' },
      dropped: ['reasoning.effort'],
    })
  })

  test('does not ask for a tier whose price is unknown', () => {
    expect(encode({ service_tier: 'priority' })).toMatchObject({ dropped: ['service_tier'] })
    expect(encode({ service_tier: 'auto' }).dropped).toEqual([])
    expect(encode({ service_tier: 'flex' }).wire).not.toHaveProperty('service_tier')
  })

  test('asks for a provider’s own tiers that cost what its default costs', () => {
    const serviceTiers = ['auto', 'flex']
    for (const tier of serviceTiers)
      expect(encode({ service_tier: tier }, { serviceTiers })).toMatchObject({
        wire: { service_tier: tier },
        dropped: [],
      })
    expect(encode({ service_tier: 'scale' }, { serviceTiers }).dropped).toEqual(['service_tier'])
    expect(encode({ service_tier: 'default' }, { serviceTiers }).wire).not.toHaveProperty('service_tier')
  })

  // Mistral's client sends tools like this, and several clients send such a schema.
  test('adds members that vendors’ own clients leave out, and changes no complete request', () => {
    const described = { name: 'f', parameters: { type: 'object', properties: { type: { type: 'string' } } } }
    const body = {
      tools: [{ function: described }, { type: 'function', function: { name: 'g' }, extra: 1 }],
      tool_choice: { function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' }, strict: true } },
    }
    expect(encode(body).wire).toMatchObject({
      tools: [
        { type: 'function', function: described },
        { type: 'function', function: { name: 'g' }, extra: 1 },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'response', schema: { type: 'object' }, strict: true },
      },
    })
    expect(refusalOf(() => encode(body, { refuses: ['tool_choice'] })).param).toBe('tool_choice')
    const whole = '[ { "type" : "function", "function":{"name":"f","parameters":{"a":1.0}} } ]'
    const text = `{"model":"m","messages":${JSON.stringify(messages)},"tools":${whole}}`
    const call = decodeChatRequest(new TextEncoder().encode(text), { sessionIdHeader: null })
    expect(textOf(encodeChatRequest(call, testEndpoint('up/stream'), chatQuirks()).body)).toContain(whole)
  })

  test('completes tools and schemas that are too large to be checked, up to the bound of parsing', () => {
    const untyped = (bytes: number) => [{ function: { name: 'f', description: 'd'.repeat(bytes) } }]
    const schema = { type: 'object', description: 'd'.repeat(70_000) }
    const format = { type: 'json_schema', json_schema: { schema } }
    const { wire } = encode({ tools: untyped(70_000), response_format: format })
    expect(wire).toMatchObject({
      tools: [{ type: 'function', ...untyped(70_000)[0] }],
      response_format: { json_schema: { name: 'response', schema } },
    })
    expect(decode({ response_format: format }).parameters).toContain('structured_outputs')
    // Larger tools pass unchanged, and the provider judges them.
    expect(encode({ tools: untyped(600_000) }).wire['tools']).toEqual(untyped(600_000))
  })

  test('still requires the type of a tool', () => {
    expect(refusalOf(() => decode({ tools: [{ type: 5 }] })).param).toBe('tools[0].type')
    expect(refusalOf(() => decode({ tool_choice: {} })).param).toContain('tool_choice')
  })

  test('refuses several answers where the provider gives one', () => {
    expect(refusalOf(() => encode({ n: 2 }, { choicesMax: 1 })).param).toBe('n')
  })

  test('follows a provider’s other habits', () => {
    expect(encode({ tool_choice: 'required' }, { toolChoiceRequired: 'any' }).wire['tool_choice']).toBe('any')
    expect(encode({ temperature: 0 }, { temperatureMin: 1e-8 }).wire['temperature']).toBe(1e-8)
    expect(encode({ user: 'x'.repeat(65) }, { userLengthMax: 64 }).dropped).toEqual(['user'])
  })
})

describe('a conversation for a provider', () => {
  const history = [
    { role: 'developer', content: 'be brief', name: 'dev' },
    {
      role: 'assistant',
      content: null,
      reasoning: 'hm',
      reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
      tool_calls: [{ id: 'call_0123456789', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_0123456789', content: 'done' },
  ]
  const adapted = (options: ChatQuirkOptions) =>
    encode({ messages: history }, options).wire['messages'] as Record<string, unknown>[]

  test('has roles, names and reasoning as the provider takes them', () => {
    const [first, second] = adapted({ messageNames: false, reasoningHistory: 'reasoning_content' })
    expect(first).toEqual({ role: 'system', content: 'be brief' })
    expect(second).toMatchObject({ reasoning_content: 'hm' })
    expect(second).not.toHaveProperty('reasoning')
    expect(second).not.toHaveProperty('reasoning_details')
    expect(adapted({ developerRole: true, reasoningHistory: 'keep' })).toEqual(history)
  })

  // The gateway's answer with the additions that clients of the contract make when they send it back.
  const echoed = [
    { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      images: [],
      cache_control: { type: 'ephemeral' },
      tool_calls: [
        { id: 'call_0', index: 0, type: 'function', function: { name: 'f', arguments: '{"index":0}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_0', name: 'f', content: '{"index":1}' },
    { role: 'user', name: 'ann', content: 'go on' },
  ]
  const echo = (options: ChatQuirkOptions) =>
    encode({ messages: echoed }, options).wire['messages'] as Record<string, unknown>[]
  const [, { tool_calls: shownCalls, ...shownAnswer }] = echoed as [unknown, Record<string, unknown>]
  const [shownCall] = shownCalls as [Record<string, unknown>]
  const { index: _index, ...sentCall } = shownCall

  test('is without the contract’s additions to messages where the provider would refuse them', () => {
    expect(echo({})).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: null, tool_calls: [sentCall] },
      { role: 'tool', tool_call_id: 'call_0', content: '{"index":1}' },
      { role: 'user', name: 'ann', content: 'go on' },
    ])
    expect(echo({ answerMembers: true })[1]).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      tool_calls: [sentCall],
    })
  })

  test('keeps the name of a tool where the provider knows it there', () => {
    const known = echo({ messageNames: false, toolMessageNames: true })
    expect(known[2]).toMatchObject({ role: 'tool', name: 'f' })
    expect(known[3]).not.toHaveProperty('name')
    expect(echo({ messageNames: false })[2]).not.toHaveProperty('name')
  })

  test('loses nothing but the gateway’s own index on its way to servers that take any member', () => {
    const [first, second, ...rest] = echo({ unknownMembers: 'forward' })
    expect([first, ...rest]).toEqual([echoed[0], echoed[2], echoed[3]] as Record<string, unknown>[])
    expect(second).toEqual({ ...shownAnswer, tool_calls: [sentCall] })
  })

  test('is refused with images that an assistant made, unless the server takes any member', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }]
    const drawn = { messages: [...messages, { role: 'assistant', content: 'Here.', images }, ...messages] }
    expect(refusalOf(() => encode(drawn)).param).toBe('messages[1].images')
    expect(refusalOf(() => encode(drawn, { answerMembers: true })).param).toBe('messages[1].images')
    expect(encode(drawn, { unknownMembers: 'forward' }).wire).toMatchObject(drawn)
  })

  test('has a refusal as text where a refusal part cannot be sent', () => {
    const refused = [{ role: 'assistant', content: null, refusal: 'No.' }, ...messages]
    expect(encode({ messages: refused }).wire['messages']).toEqual([
      { role: 'assistant', content: 'No.' },
      ...messages,
    ])
  })

  test('is passed on unchanged when no edit is needed', () => {
    const plain = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, tool_calls: [sentCall] },
      { role: 'tool', tool_call_id: 'call_0', content: 'done' },
    ]
    const text = JSON.stringify(plain).replaceAll(':', ' : ')
    const body = `{"model":"a/b","messages":${text}}`
    const call = decodeChatRequest(new TextEncoder().encode(body), { sessionIdHeader: null })
    expect(textOf(encodeChatRequest(call, testEndpoint('up/stream'), chatQuirks()).body)).toContain(text)
  })

  test('has call ids of nine letters or digits that still match their results', () => {
    const [, second, third] = adapted({ shortToolCallIds: true })
    const [call] = (second?.['tool_calls'] ?? []) as { id: string }[]
    expect(call?.id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(third?.['tool_call_id']).toBe(call?.id)
    expect(toShortId('abcDEF123')).toBe('abcDEF123')
    fc.assert(fc.property(fc.string(), (id) => /^[a-zA-Z0-9]{9}$/.test(toShortId(id))))
  })
})
