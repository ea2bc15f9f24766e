import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { joinPieces } from '../../../core/body.ts'
import { GatewayError } from '../../../core/errors.ts'
import { chatChunkSchema } from './answer-schema.ts'
import { chatQuirks, type ChatQuirkOptions } from './quirks.ts'
import { createChatStream } from './pass-stream.ts'
import { framesOf, runStream, streamOf, testCharge, testContext, type StreamRun } from '../testing.ts'

const base = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-mini-2024',
  service_tier: 'default',
  system_fingerprint: null,
}
const usage = {
  prompt_tokens: 16,
  completion_tokens: 5,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: null },
}

function chunk(delta: object, finishReason: string | null = null, extra: object = {}) {
  return {
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: null,
    ...extra,
  }
}

const hello = [
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ content: 'Hel' }),
  chunk({ content: 'lo "' }),
  chunk({ content: 'wörld 🦆\n' }),
  chunk({ content: '\\' }),
  chunk({}, 'stop'),
  { ...base, choices: [], usage },
]

function run(
  payloads: readonly unknown[],
  options: ChatQuirkOptions = {},
  cuts: readonly number[] = [],
): StreamRun {
  return runStream(createChatStream(testContext, chatQuirks(options)), streamOf(payloads), cuts)
}

type Choice = {
  index: number
  delta: Record<string, unknown>
  finish_reason: string | null
  native_finish_reason?: string
}
const choicesOf = (frame: Record<string, unknown> | undefined) => (frame?.['choices'] ?? []) as Choice[]

function textOf({ shown, ending }: StreamRun, name = 'content'): string {
  return framesOf(shown + ending)
    .flatMap(choicesOf)
    .map((choice) => choice.delta[name] ?? '')
    .join('')
}

function failureOf(result: StreamRun): GatewayError {
  const { failure } = result.rewriter
  if (failure === null) throw new Error('the stream did not fail')
  return failure
}

describe('a streamed answer', () => {
  test('has a role in the first chunk of each choice and in no other, whatever its provider sends', () => {
    const second = (delta: object) => ({ ...base, choices: [{ index: 1, delta, finish_reason: null }] })
    const result = run([
      chunk({ content: 'a' }),
      chunk({ role: 'assistant', content: 'b' }),
      second({ content: 'c' }),
      second({ content: 'd' }),
      chunk({}, 'stop'),
      { ...base, choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] },
      { ...base, choices: [], usage },
    ])
    const shown = framesOf(result.shown).flatMap(choicesOf)
    expect(shown.map(({ index, delta }) => [index, delta['role'] ?? null, delta['content']])).toEqual([
      [0, 'assistant', 'a'],
      [0, null, 'b'],
      [1, 'assistant', 'c'],
      [1, null, 'd'],
    ])
  })

  test('carries the gateway’s identity in every chunk and nothing the official client refuses', () => {
    const result = run(hello)
    const frames = framesOf(result.shown + result.ending)
    expect(frames.length).toBe(6)
    for (const frame of frames) {
      expect(chatChunkSchema.safeParse(frame).error).toBeUndefined()
      expect(frame).toMatchObject({
        id: 'gen-1-abc',
        created: 1_700_000_000,
        model: 'openai/gpt-4o-mini',
        provider: 'OpenAI',
      })
      expect('system_fingerprint' in frame).toBe(false)
    }
    expect(textOf(result)).toBe('Hello "wörld 🦆\n\\')
    expect(result.shown).not.toContain('chatcmpl-1')
  })

  test('keeps its ending back, and shows the charge in one last chunk before the terminator', () => {
    const { shown, ending, rewriter } = run(hello)
    expect(rewriter.choicesFinished).toBe(1)
    expect(shown).not.toContain('"stop"')
    expect(shown).not.toContain('"usage"')
    const [last, ...more] = framesOf(ending)
    expect(more).toEqual([])
    // A separate chunk would need a choice, because some clients read one in every chunk. Its finish reason would
    // replace the real one (null), or be appended to it (the same).
    expect(choicesOf(last)[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'stop' })
    expect(last?.['usage']).toEqual({
      prompt_tokens: 16,
      completion_tokens: 5,
      total_tokens: 21,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 0 },
      cost: 30e-9,
      cost_details: {
        upstream_inference_cost: 30e-9,
        upstream_inference_prompt_cost: 10e-9,
        upstream_inference_completions_cost: 20e-9,
      },
      is_byok: false,
    })
    expect(ending.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(ending.match(/"finish_reason":"/g)).toHaveLength(1)
  })

  // Python's openai joins the strings of all deltas; the AI SDK begins a text at every `content` that is not null.
  test('says its role once, and opens no text that is not there', () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }
    const calling = run([
      chunk({ role: 'assistant', content: null }),
      chunk({ tool_calls: [call] }),
      chunk({}, 'tool_calls'),
      { ...base, choices: [], usage },
    ])
    const frames = framesOf(calling.shown + calling.ending)
    expect(textOf(calling, 'role')).toBe('assistant')
    expect(frames.map((frame) => choicesOf(frame)[0]?.delta['content'] ?? null)).toEqual([null, null, null])
    expect(choicesOf(frames.at(-1))).toMatchObject([{ index: 0, delta: {}, finish_reason: 'tool_calls' }])
  })

  test('says its role once also where the provider repeats it in every chunk', () => {
    const result = run([
      chunk({ role: 'assistant', content: 'Wa' }),
      chunk({ role: 'assistant', content: 'ter' }),
      chunk({ role: 'assistant', content: ' turns' }),
      chunk({ role: 'assistant', content: '' }, 'stop'),
      { ...base, choices: [], usage },
    ])
    expect([textOf(result, 'role'), textOf(result)]).toEqual(['assistant', 'Water turns'])
  })

  test('is read along: counts, ids, reasons, and the text’s bytes', () => {
    expect(run(hello).rewriter.reading()).toMatchObject({
      usage: { inputTokens: 16, cachedInputTokens: 4, outputTokens: 5 },
      source: 'provider',
      finishReason: 'stop',
      nativeFinishReason: 'stop',
      upstreamId: 'chatcmpl-1',
      upstreamModel: 'gpt-4o-mini-2024',
      outputPieces: 4,
    })
    const bytes = run(hello).rewriter.reading().outputBytes
    expect(bytes).toBeGreaterThanOrEqual(Buffer.byteLength('Hello "wörld 🦆\n\\'))
    expect(bytes).toBeLessThan(30)
  })

  test('is the same wherever its reads end', () => {
    const bytes = streamOf(hello)
    const whole = run(hello)
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 10 }), (cuts) => {
        const cut = run(hello, {}, cuts)
        expect(cut.shown).toBe(whole.shown)
        expect(cut.ending).toBe(whole.ending)
        expect(cut.rewriter.reading()).toEqual(whole.rewriter.reading())
      }),
    )
  })

  test('means the same by template as by parsing, whatever the text is', () => {
    const word = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('"', '\\"', '\n\n', 'data: ', '"},"finish_reason":"stop"'),
    )
    const padding = fc.option(fc.stringMatching(/^[a-zA-Z0-9]{1,8}$/), { nil: undefined })
    fc.assert(
      fc.property(fc.array(fc.tuple(word, padding), { minLength: 1, maxLength: 20 }), (words) => {
        const payloads = words.map(([content, obfuscation]) =>
          chunk({ content }, null, obfuscation ? { obfuscation } : {}),
        )
        const result = run([...payloads, chunk({}, 'stop')])
        const expected = payloads.map(
          (payload) => JSON.parse(JSON.stringify(payload)).choices[0].delta.content,
        )
        const shown = framesOf(result.shown)
        expect(shown.map((frame) => choicesOf(frame)[0]?.delta['content'])).toEqual(expected)
        expect(shown.map((frame) => frame['obfuscation'])).toEqual(words.map(([, value]) => value))
        expect(result.rewriter.failure).toBeNull()
      }),
    )
  })

  test('comes out as one piece when it came in as one', () => {
    const rewriter = createChatStream(testContext, chatQuirks())
    const words = Array.from({ length: 50 }, (_, index) => chunk({ content: `word ${index} ` }))
    const shown = rewriter.push(streamOf(words, { done: false }))
    expect(framesOf(new TextDecoder().decode(joinPieces([shown ?? '']))).length).toBe(50)
    expect(rewriter.reading().outputPieces).toBe(50)
  })

  test('survives comments, CR LF, several data lines, spaces after colons and members in any order', () => {
    const spaced = JSON.stringify(chunk({ content: 'b' }), null, 1).split('\n')
    const text = [
      ': keep-alive',
      '',
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }], id: 'x', model: 'm', usage: null })}`,
      '',
      ...spaced.map((line) => `data: ${line}`),
      '',
      `data:${JSON.stringify(chunk({ content: 'c' }))}`,
      '',
      `data: ${JSON.stringify(chunk({ content: '' }, 'length')).replaceAll('":', '": ')}`,
      '',
      '',
    ].join('\r\n')
    const result = runStream(createChatStream(testContext, chatQuirks()), new TextEncoder().encode(text))
    expect(textOf(result)).toBe('abc')
    expect(result.rewriter.reading().finishReason).toBe('length')
    expect(result.rewriter.failure).toBeNull()
  })

  test('may lack the terminator and the last empty line', () => {
    const bytes = streamOf([chunk({ content: 'a' }), chunk({}, 'stop')], { done: false })
    const result = runStream(createChatStream(testContext, chatQuirks()), bytes.subarray(0, bytes.length - 2))
    expect(result.rewriter.failure).toBeNull()
    expect(result.ending.endsWith('data: [DONE]\n\n')).toBe(true)
  })
})

describe('usage in a stream', () => {
  test('is found in the finish chunk, after it, and under x_groq', () => {
    const places = [
      [chunk({}, 'stop', { usage })],
      [chunk({}, 'stop'), { ...base, choices: [], usage }],
      [chunk({}, 'stop', { x_groq: { id: 'req_1', usage } })],
    ]
    for (const place of places) {
      const result = run([chunk({ content: 'a' }), ...place])
      expect(result.rewriter.reading().usage?.inputTokens).toBe(16)
      expect(result.shown + result.ending).not.toContain('x_groq')
      expect((result.ending.match(/"usage"/g) ?? []).length).toBe(1)
    }
  })

  test('that never comes is null in the reading and shown as charged', () => {
    const result = run([chunk({ content: 'a' }), chunk({}, 'stop')])
    expect(result.rewriter.reading()).toMatchObject({
      usage: null,
      source: 'estimated',
      outputPieces: 1,
      outputBytes: 1,
    })
    expect(framesOf(result.ending).at(-1)?.['usage']).toMatchObject({
      prompt_tokens: 3,
      completion_tokens: 4,
    })
  })

  test('that is absurd counts as missing', () => {
    for (const wrong of [{ ...usage, prompt_tokens: -1 }, { ...usage, completion_tokens: 1.5 }, 'none']) {
      expect(run([chunk({}, 'stop', { usage: wrong })]).rewriter.reading().usage).toBeNull()
    }
  })

  test('that grows with every chunk is shown once', () => {
    const grown = (count: number) => ({
      usage: { ...usage, completion_tokens: count, total_tokens: usage.prompt_tokens + count },
    })
    const payloads = [1, 2, 3].map((count) => chunk({ content: 'x' }, null, grown(count)))
    const result = run([...payloads, chunk({}, 'stop', grown(4))])
    expect(result.shown).not.toContain('usage')
    expect(result.rewriter.reading().usage?.outputTokens).toBe(4)
    expect(textOf(result)).toBe('xxx')
  })
})

describe('finish reasons', () => {
  test('are the contract’s, with the provider’s own beside', () => {
    const pairs = [
      ['eos', 'stop'],
      ['model_length', 'length'],
      ['insufficient_system_resource', 'error'],
      ['strange', 'error'],
    ]
    for (const [native, shown] of pairs) {
      const { ending } = run([chunk({ content: 'a' }), chunk({}, native ?? '')])
      expect(choicesOf(framesOf(ending)[0])[0]).toMatchObject({
        finish_reason: shown,
        native_finish_reason: native,
      })
    }
  })

  test('say tool_calls when calls were seen, whatever the provider says', () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }
    const { ending } = run([chunk({ tool_calls: [call] }), chunk({}, 'stop')])
    expect(choicesOf(framesOf(ending)[0])[0]).toMatchObject({
      finish_reason: 'tool_calls',
      native_finish_reason: 'stop',
    })
  })

  test('that are empty strings mean nothing, and a second one is not shown', () => {
    const result = run([
      chunk({ content: 'a' }, ''),
      chunk({ content: 'b' }, ''),
      chunk({}, 'tool_calls'),
      chunk({}, 'stop'),
    ])
    expect(textOf(result)).toBe('ab')
    expect(result.ending.match(/"finish_reason":"/g)).toHaveLength(1)
    expect(result.rewriter.reading().finishReason).toBe('tool_calls')
  })

  test('of one choice do not hold back the others', () => {
    const choice = (index: number, delta: object, finish: string | null = null) => ({
      ...base,
      choices: [{ index, delta, finish_reason: finish }],
    })
    const result = run([
      choice(0, { content: 'a' }),
      choice(0, {}, 'stop'),
      choice(1, { content: 'late' }),
      choice(1, {}, 'length'),
    ])
    expect(result.shown).toContain('late')
    const finishes = framesOf(result.ending)
      .flatMap(choicesOf)
      .filter((shown) => shown.finish_reason !== null)
    expect(finishes.map((shown) => [shown.index, shown.finish_reason])).toEqual([
      [0, 'stop'],
      [1, 'length'],
    ])
  })

  test('in a frame with another choice keep back only their own', () => {
    const both = (first: object, second: object) => ({
      ...base,
      choices: [
        { index: 0, ...first },
        { index: 1, ...second },
      ],
    })
    const result = run([
      both({ delta: { content: 'a' }, finish_reason: 'stop' }, { delta: { content: 'one ' } }),
      { ...base, choices: [{ index: 1, delta: { content: 'two' } }] },
      { ...base, choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] },
    ])
    const shown = framesOf(result.shown).flatMap(choicesOf)
    expect(shown.map(({ index, delta }) => [index, delta['content']])).toEqual([
      [1, 'one '],
      [1, 'two'],
    ])
    expect(framesOf(result.ending).flatMap(choicesOf)[0]?.delta['content']).toBe('a')
  })

  test('are missing for a choice that the body broke off', () => {
    const payloads = [
      { ...base, choices: [{ index: 0, delta: { content: 'a' } }] },
      { ...base, choices: [{ index: 1, delta: { content: 'b' } }] },
      { ...base, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ]
    const rewriter = createChatStream(testContext, chatQuirks())
    rewriter.push(streamOf(payloads, { done: false }))
    rewriter.end()
    expect(rewriter.failure?.type).toBe('provider_failed')
    expect(run(payloads).rewriter.failure).toBeNull()
  })

  test('with the name of what every object has are not known', () => {
    for (const word of ['constructor', '__proto__']) {
      const { ending, rewriter } = run([chunk({ content: 'a' }), chunk({}, word)])
      expect(choicesOf(framesOf(ending)[0])[0]).toMatchObject({
        finish_reason: 'error',
        native_finish_reason: word,
      })
      expect(rewriter.reading().finishReason).toBe('error')
    }
  })
})

describe('a stream without a finish reason', () => {
  const counted = { ...base, choices: [], usage }

  test('that has counted and said that this is all is a whole answer', () => {
    const { ending, rewriter } = run([chunk({ role: 'assistant', content: 'Hi' }), counted])
    expect(rewriter).toMatchObject({ failure: null, choicesFinished: 1 })
    expect(rewriter.reading()).toMatchObject({
      finishReason: 'stop',
      nativeFinishReason: null,
      outputPieces: 1,
    })
    const last = framesOf(ending).at(-1)
    expect(choicesOf(last)).toEqual([
      { index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: null },
    ] as never)
    expect(last?.['usage']).toMatchObject({ completion_tokens: 5 })
  })

  test('ends in tool_calls where a tool was called, and every choice for itself', () => {
    const called = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const { ending, rewriter } = run([
      { ...base, choices: [{ index: 0, delta: { content: 'a' } }] },
      { ...base, choices: [{ index: 1, delta: { tool_calls: [called] } }] },
      counted,
    ])
    expect(rewriter.choicesFinished).toBe(2)
    const ends = framesOf(ending).flatMap(choicesOf)
    expect(ends.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, 'stop'],
      [1, 'tool_calls'],
    ])
  })

  test('is broken without its terminator, and where nothing was begun', () => {
    const rewriter = createChatStream(testContext, chatQuirks())
    rewriter.push(streamOf([chunk({ content: 'Hi' }), counted], { done: false }))
    rewriter.end()
    expect(rewriter.failure?.type).toBe('provider_failed')
    expect(failureOf(run([counted])).type).toBe('provider_failed')
  })

  test('and without a word has no reason that anybody would pay for', () => {
    const { rewriter } = run([chunk({ role: 'assistant', content: '' }), counted])
    expect(rewriter.reading()).toMatchObject({ finishReason: null, outputPieces: 0 })
  })
})

describe('the finish reason', () => {
  test('stands in the last chunk of its choice, also where words come after it', () => {
    const { ending } = run([
      chunk({ content: 'a' }, 'length'),
      chunk({ content: 'b' }, 'length'),
      chunk({ content: 'c' }, 'length'),
    ])
    const ends = framesOf(ending).flatMap(choicesOf)
    expect(ends.map(({ delta, finish_reason }) => [delta['content'], finish_reason])).toEqual([
      ['a', null],
      ['b', null],
      ['c', 'length'],
    ])
    expect(ends.at(-1)?.native_finish_reason).toBe('length')
  })

  test('keeps the model’s own word where the provider is a gateway that tells it', () => {
    const choices = [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'end_turn' }]
    const { ending, rewriter } = run([chunk({ content: 'a' }), { ...base, choices }])
    expect(choicesOf(framesOf(ending).at(-1))[0]).toMatchObject({
      finish_reason: 'stop',
      native_finish_reason: 'end_turn',
    })
    expect(rewriter.reading()).toMatchObject({ finishReason: 'stop', nativeFinishReason: 'end_turn' })
  })
})

describe('frames without choices', () => {
  const found = [{ prompt_index: 0, content_filter_results: { hate: { filtered: false } } }]
  const azure = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: found }

  test('keep what else they say, in the next chunk that has a choice', () => {
    const result = run([azure, ...hello])
    const [first, second] = framesOf(result.shown)
    expect(first).toMatchObject({ id: 'gen-1-abc', prompt_filter_results: found })
    expect(choicesOf(first)).toHaveLength(1)
    expect(second).not.toHaveProperty('prompt_filter_results')
    expect(textOf(result)).toBe('Hello "wörld 🦆\n\\')
  })

  test('show nothing by themselves, so that another endpoint may still answer', () => {
    const rewriter = createChatStream(testContext, chatQuirks())
    expect(rewriter.push(streamOf([azure], { done: false }))).toBeNull()
  })

  test('in the middle and at the end are not lost, whatever the stream has learned', () => {
    const words = Array.from({ length: 6 }, (_, at) => chunk({ content: `w${at} ` }))
    const checked = { ...base, choices: [], moderation: { flagged: false } }
    const late = { ...base, choices: [], usage, moderation: { flagged: true }, x_groq: { id: 'r' } }
    const result = run([...words, checked, ...words, chunk({}, 'stop'), late])
    const frames = framesOf(result.shown)
    expect(frames.filter((frame) => 'moderation' in frame)).toHaveLength(1)
    expect(frames[6]).toMatchObject({
      moderation: { flagged: false },
      choices: [{ delta: { content: 'w0 ' } }],
    })
    const last = framesOf(result.ending).at(-1)
    expect(last).toMatchObject({ moderation: { flagged: true }, usage: { prompt_tokens: 16 } })
    expect(last).not.toHaveProperty('x_groq')
  })
})

describe('tool calls in a stream', () => {
  type Piece = { index: number; id?: string; type?: string; function?: { name?: string; arguments?: string } }
  const piecesOf = ({ shown, ending }: StreamRun) =>
    framesOf(shown + ending)
      .flatMap(choicesOf)
      .flatMap(({ delta }) => (delta['tool_calls'] ?? []) as Piece[])
  const called = (name: string, text?: string | null) => ({
    function: { name, ...(text === undefined ? {} : { arguments: text }) },
  })

  test('without an id get one from the gateway, sent once', () => {
    for (const id of ['', null, undefined]) {
      const begin = (index: number, name: string) =>
        chunk({ tool_calls: [{ index, id, ...called(name, '{') }] })
      const go = (index: number) => chunk({ tool_calls: [{ index, id, function: { arguments: '}' } }] })
      const pieces = piecesOf(
        run([begin(0, 'f'), go(0), begin(1, 'g'), go(1), go(1), chunk({}, 'tool_calls')]),
      )
      const ids = pieces.flatMap((piece) => (piece.id === undefined ? [] : [[piece.index, piece.id]]))
      expect(ids).toEqual([
        [0, 'call_gen-1-abc_0_0'],
        [1, 'call_gen-1-abc_0_1'],
      ])
    }
  })

  test('that come whole and without ids or indexes stay apart', () => {
    const both = [called('f', '{"a":1}'), called('g', '{}')].map((call) => ({ id: '', ...call }))
    const pieces = piecesOf(run([chunk({ tool_calls: both }), chunk({}, 'tool_calls')]))
    expect(pieces.map(({ index, id, type }) => [index, id, type])).toEqual([
      [0, 'call_gen-1-abc_0_0', 'function'],
      [1, 'call_gen-1-abc_0_1', 'function'],
    ])
  })

  test('with the id of another call get another id', () => {
    const piece = (index: number | undefined, name: string | undefined, text: string) => ({
      ...(index === undefined ? {} : { index }),
      id: 'get',
      type: 'function',
      function: { ...(name === undefined ? {} : { name }), arguments: text },
    })
    const streams = {
      'in frames of their own, by index': [[piece(0, 'f', '{"a":1}')], [piece(1, 'g', '{"b":2}')]],
      'of one tool, by index': [[piece(0, 'f', '{"a":1}')], [piece(1, 'f', '{"b":2}')]],
      'in one frame, by index': [[piece(0, 'f', '{"a":1}'), piece(1, 'g', '{"b":2}')]],
      'in one frame, by place': [[piece(undefined, 'f', '{"a":1}'), piece(undefined, 'f', '{"b":2}')]],
      'at one index, by name': [[piece(0, 'f', '{"a":1}')], [piece(0, 'g', '{"b":2}')]],
      'by name alone': [[piece(undefined, 'f', '{"a":1}')], [piece(undefined, 'g', '{"b":2}')]],
      'repeating it in every piece of both': [
        [piece(0, 'f', '{"a"')],
        [piece(1, 'g', '{"b"')],
        [piece(0, 'f', ':1')],
        [piece(1, 'g', ':2')],
        [piece(0, undefined, '}'), piece(1, undefined, '}')],
      ],
    }
    for (const [how, frames] of Object.entries(streams)) {
      const told = ['', '']
      const ids: unknown[] = []
      for (const shown of piecesOf(
        run([...frames.map((calls) => chunk({ tool_calls: calls })), chunk({}, 'tool_calls')]),
      )) {
        told[shown.index] += shown.function?.arguments ?? ''
        if (shown.id !== undefined) ids.push([shown.index, shown.id])
      }
      expect({ how, told, ids }).toEqual({
        how,
        told: ['{"a":1}', '{"b":2}'],
        ids: [
          [0, 'get'],
          [1, 'call_gen-1-abc_0_1'],
        ],
      })
    }
  })

  test('without arguments have empty ones in the end, and those with arguments nothing more', () => {
    const absent = [undefined, null, '']
    for (const text of absent) {
      const result = run([
        chunk({ tool_calls: [{ index: 0, id: 'a', ...called('f', text) }] }),
        chunk({ tool_calls: [{ index: 1, id: 'b', ...called('g', '{"x":') }] }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: '1}' } }] }),
        chunk({ tool_calls: [{ index: 2, id: 'c', ...called('h', text) }] }, 'tool_calls'),
      ])
      const texts = ['', '', '']
      for (const piece of piecesOf(result)) texts[piece.index] += piece.function?.arguments ?? ''
      expect(texts).toEqual(['{}', '{"x":1}', '{}'])
    }
  })
})

describe('log probabilities in a stream', () => {
  test('have every member that the contract requires of a token', () => {
    const logprobs = { content: [{ token: 'a', logprob: -1, top_logprobs: [{ token: 'b', logprob: -2 }] }] }
    const choices = [{ index: 0, delta: { content: 'a' }, logprobs }]
    const result = run([{ ...base, choices }, chunk({}, 'stop')])
    expect(choicesOf(framesOf(result.shown)[0])[0]).toMatchObject({
      logprobs: {
        content: [
          { token: 'a', logprob: -1, bytes: null, top_logprobs: [{ token: 'b', logprob: -2, bytes: null }] },
        ],
        refusal: null,
      },
    })
  })
})

describe('a stream that breaks', () => {
  test('without a finish reason is a failed provider, also after a terminator', () => {
    for (const payloads of [[], [chunk({ content: 'a' })]]) {
      const result = run(payloads)
      expect(failureOf(result).type).toBe('provider_failed')
      expect(result.rewriter.choicesFinished).toBe(0)
    }
  })

  test('with an error object says which, shows what came before, and nothing of the provider’s words', () => {
    const result = run([
      chunk({ content: 'a' }),
      {
        error: {
          message: 'rate limit at https://api.example.com key sk-abcdef123456',
          code: 'rate_limit_exceeded',
        },
      },
    ])
    expect(textOf({ ...result, ending: '' })).toBe('a')
    expect(failureOf(result).type).toBe('upstream_rate_limited')
    expect(failureOf(result).message).not.toContain('sk-')
    const overloaded = run([{ error: { message: 'Overloaded', type: 'overloaded_error' } }])
    expect(failureOf(overloaded).type).toBe('provider_overloaded')
  })

  test('with an error inside a choice is a failure too', () => {
    const choices = [
      { index: 0, delta: { content: '' }, finish_reason: 'error', error: { code: 429, message: 'x' } },
    ]
    const { rewriter } = runStream(
      createChatStream(testContext, chatQuirks()),
      streamOf([{ id: 'c', choices }]),
    )
    expect(rewriter.failure?.type).toBe('upstream_rate_limited')
  })

  test('before it began, with an error that is not an event stream, names that error', () => {
    const body = JSON.stringify({ error: { message: 'Overloaded', type: 'overloaded_error' } }, null, 2)
    for (const bytes of [body, `${body}\n\n`]) {
      const rewriter = createChatStream(testContext, chatQuirks())
      expect(rewriter.push(Buffer.from(bytes))).toBeNull()
      rewriter.end()
      expect(rewriter.failure?.type).toBe('provider_overloaded')
    }
  })

  test('with what is not JSON, or not an object, is a failed provider', () => {
    for (const junk of ['{"choices":[', 'null', '[]', 'hello']) {
      expect(failureOf(run([chunk({ content: 'a' }), junk])).type).toBe('provider_failed')
    }
  })

  test('with a frame nested so deep that writing it again would block other calls is a failure of the provider', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const frame = `{"choices":[{"index":0,"delta":{"content":"b","reasoning_details":${deep}}}]}`
    const startMs = performance.now()
    const result = run([chunk({ content: 'a' }), frame])
    expect(performance.now() - startMs).toBeLessThan(2_000)
    expect(textOf({ ...result, ending: '' })).toBe('a')
    expect(failureOf(result).type).toBe('provider_failed')
  })

  test('with a frame without end is given up in bounded memory', () => {
    const rewriter = createChatStream(testContext, chatQuirks())
    const piece = new Uint8Array(1_000_000).fill(0x61)
    for (let count = 0; count < 40 && rewriter.failure === null; count += 1) rewriter.push(piece)
    expect(rewriter.failure?.type).toBe('provider_failed')
    expect(rewriter.push(piece)).toBeNull()
  })

  test('never makes the rewriter throw, whatever the bytes are', () => {
    const junk = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.jsonValue().map((value) => streamOf([value])),
      fc
        .record({ choices: fc.array(fc.jsonValue()), usage: fc.jsonValue() })
        .map((value) => streamOf([value])),
    )
    fc.assert(
      fc.property(fc.array(junk, { maxLength: 5 }), (pieces) => {
        const rewriter = createChatStream(testContext, chatQuirks())
        for (const piece of pieces) rewriter.push(piece)
        rewriter.end()
        rewriter.reading()
        rewriter.encodeEnding(testCharge)
      }),
    )
  })

  test('is told to the caller as a chunk with the error, and no terminator', () => {
    const rewriter = createChatStream(testContext, chatQuirks())
    const text = new TextDecoder().decode(
      rewriter.encodeError(new GatewayError('provider_failed', 'It broke.')),
    )
    expect(framesOf(text)).toEqual([
      {
        id: 'gen-1-abc',
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'openai/gpt-4o-mini',
        provider: 'OpenAI',
        error: { code: 502, message: 'It broke.', metadata: { error_type: 'provider_unavailable' } },
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      },
    ])
    expect(text).not.toContain('[DONE]')
  })
})

describe('differences between providers', () => {
  test('reasoning is shown under one name', () => {
    const payloads = ['a', 'b', 'c'].map((text) => chunk({ content: null, reasoning_content: text }))
    const result = run([
      ...payloads,
      chunk({ content: 'answer', reasoning_content: null }),
      chunk({}, 'stop'),
    ])
    expect(textOf(result, 'reasoning')).toBe('abc')
    expect(textOf(result)).toBe('answer')
    expect(result.shown).not.toContain('reasoning_content')
  })

  test('content parts are taken apart into text and reasoning', () => {
    const thinking = chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] })
    const result = run([
      thinking,
      chunk({ content: [{ type: 'text', text: 'yes' }] }),
      chunk({ content: '' }, 'stop'),
    ])
    expect(textOf(result, 'reasoning')).toBe('hm')
    expect(textOf(result)).toBe('yes')
  })

  test('tool calls keep their own indexes although the provider repeats or omits them', () => {
    const begin = (id: string, extra: object = {}) =>
      chunk({ tool_calls: [{ id, type: 'function', function: { name: id, arguments: '' }, ...extra }] })
    const go = (text: string, extra: object = {}) =>
      chunk({ tool_calls: [{ function: { arguments: text }, ...extra }] })
    const streams = [
      [
        begin('a', { index: 0 }),
        go('1', { index: 0 }),
        go('2', { index: 0 }),
        begin('b', { index: 0 }),
        go('3', { index: 0 }),
      ],
      [begin('a'), go('1'), go('2'), begin('b'), go('3')],
      [
        begin('a', { index: 0 }),
        go('1', { index: 0 }),
        begin('b', { index: 1 }),
        go('2', { index: 0 }),
        go('3', { index: 1 }),
      ],
    ]
    for (const payloads of streams) {
      const calls = new Map<number, string>()
      const result = run([...payloads, chunk({}, 'tool_calls')])
      for (const choice of framesOf(result.shown).flatMap(choicesOf)) {
        const pieces = choice.delta['tool_calls'] as {
          index: number
          function: { name?: string; arguments: string }
        }[]
        for (const piece of pieces) {
          calls.set(
            piece.index,
            (calls.get(piece.index) ?? '') + (piece.function.name ?? '') + piece.function.arguments,
          )
        }
      }
      expect([...calls]).toEqual([
        [0, 'a12'],
        [1, 'b3'],
      ])
    }
  })

  // Fireworks and NVIDIA's MiniMax stream like this; LangChain and Python's openai join the strings of all pieces.
  test('id, type and name of a tool call are sent once although the provider repeats them', () => {
    const piece = (id: string, name: string, text: string, index = 0) =>
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] })
    const result = run([
      piece('call_a', 'weather', ''),
      piece('call_a', 'weather', '{"city":'),
      piece('call_a', 'weather', '"Rome"'),
      piece('call_a', 'weather', '}'),
      piece('call_b', 'weather', '{', 1),
      piece('call_b', 'weather', '}', 1),
      chunk({ tool_calls: [{ index: 1, function: { name: 'weather', arguments: ' ' } }] }),
      chunk({ tool_calls: [{ index: 1, function: { name: 'weather', arguments: ' ' } }] }),
      chunk({}, 'tool_calls'),
    ])
    const pieces = framesOf(result.shown)
      .flatMap(choicesOf)
      .flatMap(({ delta }) => delta['tool_calls'] as Record<string, unknown>[])
    expect(pieces).toEqual([
      { index: 0, id: 'call_a', type: 'function', function: { name: 'weather', arguments: '' } },
      { index: 0, function: { arguments: '{"city":' } },
      { index: 0, function: { arguments: '"Rome"' } },
      { index: 0, function: { arguments: '}' } },
      { index: 1, id: 'call_b', type: 'function', function: { name: 'weather', arguments: '{' } },
      { index: 1, function: { arguments: '}' } },
      { index: 1, function: { arguments: ' ' } },
      { index: 1, function: { arguments: ' ' } },
    ])
  })

  // Gemini's OpenAI layer may do this.
  test('a name that comes in pieces stays whole', () => {
    const result = run([
      chunk({
        tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'edit_', arguments: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'file', arguments: '{' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { name: '', arguments: '}' } }] }),
      chunk({}, 'tool_calls'),
    ])
    const names = framesOf(result.shown)
      .flatMap(choicesOf)
      .flatMap(({ delta }) => delta['tool_calls'] as { function: { name?: string } }[])
      .map((call) => call.function.name ?? '')
    expect(names.join('')).toBe('edit_file')
  })

  test('indexes that are no counts are not counted on from', () => {
    for (const index of ['9007199254740991', '9007199254740992', '1e999', '-1', '0.5']) {
      const begin = (id: string) =>
        `{"choices":[{"index":${index},"delta":{"tool_calls":[{"index":${index},"id":"${id}","function":{"name":"f","arguments":""}}]}}]}`
      const result = run([begin('a'), begin('b'), begin('c'), chunk({}, 'tool_calls')])
      const shown = framesOf(result.shown).flatMap(choicesOf)
      expect(shown.map((choice) => choice.index)).toEqual([0, 0, 0])
      expect(shown.map(({ delta }) => delta['tool_calls'])).toMatchObject([
        [{ index: 0, id: 'a' }],
        [{ index: 1, id: 'b' }],
        [{ index: 2, id: 'c' }],
      ])
    }
  })
})
