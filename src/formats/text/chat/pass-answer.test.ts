import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../core/errors.ts'
import { chatAnswerSchema } from './answer-schema.ts'
import { decodeChatAnswer } from './pass-answer.ts'
import { outputBytesOf } from './choice.ts'
import { readChatAnswer } from './read-answer.ts'
import { chatQuirks, type ChatQuirkOptions } from './quirks.ts'
import { testCharge, testContext, textOf } from '../testing.ts'

const usage = { prompt_tokens: 16, completion_tokens: 5, total_tokens: 21 }

function answer(message: object, extra: object = {}, choice: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o-mini-2024',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice }],
    usage,
    ...extra,
  }
}

function decode(wire: unknown, options: ChatQuirkOptions = {}) {
  const bytes = new TextEncoder().encode(typeof wire === 'string' ? wire : JSON.stringify(wire))
  const decoded = decodeChatAnswer(bytes, testContext, chatQuirks(options))
  return { reading: decoded.reading, body: JSON.parse(textOf(decoded.encode(testCharge))) }
}

function failureOf(wire: unknown): GatewayError {
  try {
    decode(wire)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('it was accepted')
}

describe('a whole chat answer', () => {
  test('whose only choice is an error is that failure', () => {
    const failed = {
      finish_reason: 'error',
      error: { code: 429, message: 'key sk-operator-1234567 is limited' },
    }
    expect(failureOf(answer({ content: '' }, {}, failed)).type).toBe('upstream_rate_limited')
  })

  test('that broke off in an error keeps what was said, in our words', () => {
    const failed = { finish_reason: 'error', error: { code: 502, message: 'host 10.0.0.1 is down' } }
    const { body } = decode(answer({ content: 'half' }, {}, failed))
    expect(body.choices[0]).toMatchObject({
      message: { content: 'half' },
      finish_reason: 'error',
      error: { code: 502, message: 'The provider failed to answer.' },
    })
    expect(JSON.stringify(body)).not.toContain('10.0.0.1')
  })

  test('with neither output nor a finish reason is not billed as an answer', () => {
    expect(decode(answer({ content: '' }, {}, { finish_reason: null })).reading.outputPieces).toBe(0)
    const images = [{ type: 'image_url', image_url: { url: 'data:,' } }]
    for (const said of [{ content: 'a' }, { content: null, images }, { content: null, audio: { id: 'a' } }])
      expect(decode(answer(said, {}, { finish_reason: null })).reading.outputPieces).toBe(1)
  })

  test('shows the counts that were charged where the provider’s were not believed', () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    const bytes = new TextEncoder().encode(JSON.stringify(answer({ content: 'a' }, { usage: zero })))
    const decoded = decodeChatAnswer(bytes, testContext, chatQuirks())
    const body = JSON.parse(textOf(decoded.encode({ ...testCharge, isEstimated: true })))
    expect(body.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
  })

  test('leaves out another gateway’s metadata about its routes', () => {
    const theirs = { attempt: 1, endpoints: { available: [{ provider: 'theirs' }] } }
    const { body } = decode(
      answer({ content: 'a' }, { openrouter_metadata: theirs, headrace_metadata: theirs, user_id: 'org_x' }),
    )
    expect(body).not.toHaveProperty('openrouter_metadata')
    expect(body).not.toHaveProperty('headrace_metadata')
    expect(body).not.toHaveProperty('user_id')
  })

  test('gets everything the contract requires, and the charge', () => {
    const { body } = decode(answer({ content: 'hi' }))
    expect(body).toEqual({
      id: 'gen-1-abc',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'openai/gpt-4o-mini',
      provider: 'OpenAI',
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi', refusal: null },
          finish_reason: 'stop',
          native_finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: {
        prompt_tokens: 16,
        completion_tokens: 5,
        total_tokens: 21,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 30e-9,
        cost_details: {
          upstream_inference_cost: 30e-9,
          upstream_inference_prompt_cost: 10e-9,
          upstream_inference_completions_cost: 20e-9,
        },
        is_byok: false,
      },
    })
    expect(chatAnswerSchema.safeParse(body).error).toBeUndefined()
  })

  test('shows metadata only when the caller asks for it, also under the other name', () => {
    const bytes = new TextEncoder().encode(JSON.stringify(answer({ content: 'hi' })))
    const decoded = decodeChatAnswer(bytes, testContext, chatQuirks())
    const show = (alias: boolean) =>
      JSON.parse(
        textOf(decoded.encode({ ...testCharge, metadata: { dropped: ['x'] }, metadataAlias: alias })),
      )
    expect(show(false)).toMatchObject({ headrace_metadata: { dropped: ['x'] } })
    expect(show(false)).not.toHaveProperty('openrouter_metadata')
    expect(show(true)).toMatchObject({ openrouter_metadata: { dropped: ['x'] } })
  })

  test('has indexed tool calls with textual arguments, and says so in its finish reason', () => {
    const calls = [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
      { function: { name: 'g', arguments: { x: 1 } } },
    ]
    const { body, reading } = decode(answer({ tool_calls: calls }))
    expect(body.choices[0].message).toMatchObject({
      content: null,
      tool_calls: [
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
        {
          index: 1,
          id: 'call_gen-1-abc_0_1',
          type: 'function',
          function: { name: 'g', arguments: '{"x":1}' },
        },
      ],
    })
    expect(body.choices[0]).toMatchObject({ finish_reason: 'tool_calls', native_finish_reason: 'stop' })
    expect(reading.finishReason).toBe('tool_calls')
  })

  test('has both lists of log probabilities, null where the provider gave none', () => {
    const { body } = decode(answer({ content: 'a' }, {}, { logprobs: { content: [] } }))
    expect(body.choices[0].logprobs).toEqual({ content: [], refusal: null })
  })

  test('has every member that the contract requires of a token in its log probabilities', () => {
    const known = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }
    const logprobs = {
      content: [known, { token: 'b', logprob: -2, top_logprobs: [{ token: 'c', logprob: -3 }] }],
    }
    const { body } = decode(answer({ content: 'ab' }, {}, { logprobs }))
    expect(body.choices[0].logprobs).toEqual({
      content: [
        known,
        { token: 'b', logprob: -2, bytes: null, top_logprobs: [{ token: 'c', logprob: -3, bytes: null }] },
      ],
      refusal: null,
    })
    expect(chatAnswerSchema.safeParse(body).error).toBeUndefined()
    const older = decode(answer({ content: 'a' }, {}, { logprobs: { tokens: ['a'], token_logprobs: [-1] } }))
    expect(chatAnswerSchema.safeParse(older.body).error).toBeUndefined()
  })

  test('without a finish reason is whole: stop, or tool_calls', () => {
    const called = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const plain = decode(answer({ content: 'hi' }, {}, { finish_reason: null }))
    expect(plain.body.choices[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: null })
    expect(plain.reading).toMatchObject({ finishReason: 'stop', nativeFinishReason: null })
    const calling = decode(answer({ tool_calls: [called] }, {}, { finish_reason: '' }))
    expect(calling.body.choices[0].finish_reason).toBe('tool_calls')
    const silent = decode(answer({ content: '' }, {}, { finish_reason: null }))
    expect(silent.reading.finishReason).toBeNull()
  })

  test('keeps the model’s own finish reason when the provider is a gateway that passes it on', () => {
    const { body, reading } = decode(answer({ content: 'a' }, {}, { native_finish_reason: 'end_turn' }))
    expect(body.choices[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'end_turn' })
    expect(reading).toMatchObject({ finishReason: 'stop', nativeFinishReason: 'end_turn' })
  })

  // Azure answers like this.
  test('that a content filter emptied is an answer without a message', () => {
    const filtered = { hate: { filtered: true, severity: 'high' } }
    const wire = {
      ...answer({}),
      choices: [{ index: 0, finish_reason: 'content_filter', content_filter_results: filtered }],
    }
    const { body, reading } = decode(wire)
    expect(body.choices[0]).toEqual({
      index: 0,
      content_filter_results: filtered,
      message: { role: 'assistant', content: null, refusal: null },
      finish_reason: 'content_filter',
      native_finish_reason: 'content_filter',
      logprobs: null,
    })
    expect(chatAnswerSchema.safeParse(body).error).toBeUndefined()
    expect(reading).toMatchObject({ finishReason: 'content_filter', outputPieces: 0 })
    for (const reason of ['stop', null])
      expect(failureOf({ choices: [{ index: 0, finish_reason: reason }] }).type).toBe('provider_failed')
  })

  test('gives a tool call an id and arguments where the provider gave none', () => {
    const calls = [
      { id: '', type: 'function', function: { name: 'f' } },
      { id: null, type: 'function', function: { name: 'g', arguments: null } },
      { id: 'own', type: 'function', function: { name: 'h', arguments: '' } },
    ]
    const { body } = decode(answer({ tool_calls: calls }))
    const shown = body.choices[0].message.tool_calls as { id: string; function: { arguments: string } }[]
    expect(shown.map(({ id }) => id)).toEqual(['call_gen-1-abc_0_0', 'call_gen-1-abc_0_1', 'own'])
    expect(shown.map((call) => call.function.arguments)).toEqual(['{}', '{}', '{}'])
  })

  test('gives a tool call another id where its provider gave it that of a call before it', () => {
    const call = (name: string, index?: number) => ({
      ...(index === undefined ? {} : { index }),
      id: 'get',
      type: 'function',
      function: { name, arguments: `{"${name}":1}` },
    })
    for (const calls of [
      [call('f', 0), call('g', 1)],
      [call('f', 0), call('f', 0)],
      [call('f'), call('f')],
    ]) {
      const told = calls.map(({ function: { name, arguments: text } }, index) => [
        index === 0 ? 'get' : 'call_gen-1-abc_0_1',
        name,
        text,
      ])
      const { body } = decode(answer({ tool_calls: calls }))
      const shown = body.choices[0].message.tool_calls as (typeof calls)[number][]
      expect(shown.map(({ id, function: called }) => [id, called.name, called.arguments])).toEqual(told)
      const bytes = new TextEncoder().encode(JSON.stringify(answer({ tool_calls: calls })))
      const [choice] = readChatAnswer(bytes, chatQuirks(), testContext).choices
      const read = choice?.parts.flatMap(({ head, text }) =>
        head.type === 'tool_call' ? [[head.id, head.name, text]] : [],
      )
      expect(read).toEqual(told)
    }
  })

  test('shows reasoning under one name, wherever the provider put it', () => {
    expect(decode(answer({ content: 'a', reasoning_content: 'r' })).body.choices[0].message).toEqual({
      role: 'assistant',
      content: 'a',
      refusal: null,
      reasoning: 'r',
    })
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'r' }] },
      { type: 'text', text: 'a' },
    ]
    expect(decode(answer({ content: parts })).body.choices[0].message).toMatchObject({
      content: 'a',
      reasoning: 'r',
    })
  })

  test('leaves out counts that are null, and what concerns the operator only', () => {
    const details = { prompt_tokens_details: { cached_tokens: null, audio_tokens: 2 } }
    const { body } = decode(
      answer({ content: 'a' }, { usage: { ...usage, ...details }, x_groq: { id: 'req' } }),
    )
    expect(body.usage.prompt_tokens_details).toEqual({ cached_tokens: 0, audio_tokens: 2 })
    expect(body).not.toHaveProperty('x_groq')
  })

  test('is counted under every spelling of cached tokens', () => {
    const spellings = [
      { prompt_tokens_details: { cached_tokens: 4 } },
      { prompt_token_details: { cached_tokens: 4 } },
      { prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 12 },
      { num_cached_tokens: 4 },
    ]
    for (const spelling of spellings) {
      expect(
        decode(answer({ content: 'a' }, { usage: { ...usage, ...spelling } })).reading.usage
          ?.cachedInputTokens,
      ).toBe(4)
    }
  })

  test('has reasoning added where the provider does not count it', () => {
    const wire = answer(
      { content: 'a' },
      { usage: { ...usage, completion_tokens_details: { reasoning_tokens: 50 } } },
    )
    const { reading, body } = decode(wire, { reasoningNotCounted: true })
    expect(reading.usage).toMatchObject({ outputTokens: 55, reasoningTokens: 50 })
    expect(body.usage).toMatchObject({ completion_tokens: 55, total_tokens: 71 })
    expect(decode(wire).reading.usage).toMatchObject({ outputTokens: 5, reasoningTokens: 0 })
    const proven = { ...usage, total_tokens: 71, completion_tokens_details: { reasoning_tokens: 50 } }
    expect(decode(answer({ content: 'a' }, { usage: proven })).reading.usage?.outputTokens).toBe(55)
  })

  test('loses a count that contradicts the others, in the shown usage too, and no other count', () => {
    const counts = { prompt_tokens: 10, completion_tokens: 213, total_tokens: 223 }
    const contradicted = { ...counts, prompt_tokens_details: { cached_tokens: 161, text_tokens: 10 } }
    const { reading, body } = decode(answer({ content: 'a' }, { usage: contradicted }))
    expect(reading).toMatchObject({
      source: 'provider',
      usage: { inputTokens: 10, cachedInputTokens: 0, outputTokens: 213 },
    })
    expect(body.usage).toMatchObject({
      ...counts,
      prompt_tokens_details: { cached_tokens: 0, text_tokens: 10 },
    })
  })

  test('counts and shows tokens that the provider has in its sum alone', () => {
    const heard = { prompt_audio_seconds: 30, prompt_tokens: 9, completion_tokens: 248, total_tokens: 632 }
    const voxtral = decode(answer({ content: 'a' }, { usage: heard }))
    expect(voxtral.reading.usage).toMatchObject({
      inputTokens: 384,
      inputAudioTokens: 375,
      outputTokens: 248,
    })
    expect(voxtral.body.usage).toMatchObject({
      prompt_tokens: 384,
      total_tokens: 632,
      prompt_tokens_details: { audio_tokens: 375 },
    })
    const thought = { prompt_tokens: 12, completion_tokens: 35, total_tokens: 109 }
    const { body } = decode(answer({ content: 'a' }, { usage: thought }))
    expect(body.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 97, total_tokens: 109 })
  })

  test('without usable usage is estimated, never free', () => {
    for (const broken of [
      undefined,
      null,
      {},
      { ...usage, prompt_tokens: -5 },
      { ...usage, completion_tokens: 1e12 },
    ]) {
      const { reading, body } = decode(answer({ content: 'four' }, { usage: broken }))
      expect(reading).toMatchObject({ usage: null, source: 'estimated', outputBytes: 4, outputPieces: 1 })
      expect(body.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
    }
  })

  test('may begin with blank lines, as one provider keeps connections open', () => {
    expect(
      decode(`\n\n\r\n${JSON.stringify(answer({ content: 'hi' }))}`).body.choices[0].message.content,
    ).toBe('hi')
  })

  test('that is not a chat completion is a failure of the provider, whose bytes are not shown', () => {
    for (const junk of [
      '',
      '<html>secret-host</html>',
      'null',
      '[]',
      '{}',
      '{"choices":[]}',
      '{"choices":[{}]}',
      '{"choices":[{"message":"secret-host"}]}',
    ]) {
      const error = failureOf(junk)
      expect(error.type).toBe('provider_failed')
      expect(error.message).not.toContain('secret-host')
    }
  })

  test('that is nested so deep that writing it again would block other calls is a failure of the provider', () => {
    const long = 'x'.repeat(5_000)
    for (const content of ['hi', long]) {
      for (const deep of [
        '['.repeat(100_000) + ']'.repeat(100_000),
        `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`,
      ]) {
        const startMs = performance.now()
        const wire = JSON.stringify(answer({ content, reasoning_details: '?' })).replace('"?"', deep)
        expect(failureOf(wire).type).toBe('provider_failed')
        expect(performance.now() - startMs).toBeLessThan(2_000)
      }
    }
  })

  test('that hides an error behind a success is that error', () => {
    expect(failureOf({ error: { code: 429, message: 'slow down' } }).type).toBe('upstream_rate_limited')
    expect(failureOf({ error: { message: 'boom' }, choices: [] }).type).toBe('provider_failed')
  })

  test('is the same whether its texts are long or short', () => {
    const long = 'A "word" \\ and an é 😀.\n'.repeat(400)
    const messages = [
      { content: 'TEXT' },
      { content: 'TEXT', reasoning_content: 'TEXT' },
      { content: 'TEXT', reasoning: 'TEXT', reasoning_content: 'TEXT', refusal: 'TEXT' },
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'TEXT' }] }, 'a', { text: 'TEXT' }] },
      { content: null, tool_calls: [{ id: 'a', function: { name: 'f', arguments: 'TEXT' } }] },
      { content: null, tool_calls: [{ function: { name: 'f', arguments: { content: 'TEXT', a: 1 } } }] },
      { content: 'TEXT', audio: { data: 'TEXT' } },
    ]
    for (const message of messages) {
      for (const extra of [{}, { usage: null }, { x_groq: { text: 'TEXT' } }]) {
        const short = decode(answer(message, extra))
        const same = decode(
          JSON.stringify(answer(message, extra)).replaceAll('TEXT', JSON.stringify(long).slice(1, -1)),
        )
        const grown = JSON.parse(
          JSON.stringify(short.body).replaceAll('TEXT', JSON.stringify(long).slice(1, -1)),
        )
        // A text inside other JSON is escaped twice.
        const called = grown.choices[0].message.tool_calls?.[0]?.function
        if (called?.arguments.startsWith('{')) called.arguments = JSON.stringify({ content: long, a: 1 })
        expect(same.body).toEqual(grown)
        const outputBytes = outputBytesOf(grown.choices[0].message)
        expect(same.reading).toEqual({ ...short.reading, outputBytes })
      }
    }
  })

  test('of a long text is refused where it is broken', () => {
    const text = JSON.stringify(answer({ content: 'x'.repeat(10_000) }))
    expect(failureOf(text.replace('xxxx', 'xx\nx')).type).toBe('provider_failed')
    expect(failureOf(text.slice(0, -1)).type).toBe('provider_failed')
    expect(failureOf(text.replace('xxxx', '\\u12x')).type).toBe('provider_failed')
    const error = { error: { code: 429, message: 'slow down' }, content: 'x'.repeat(10_000) }
    expect(failureOf(error).type).toBe('upstream_rate_limited')
  })
})
