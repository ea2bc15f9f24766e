import fc from 'fast-check'
import { describe, expect, test } from 'bun:test'
import { type Answer, joinEvents } from '../../../canonical/text/answer.ts'
import type { TextEvent } from '../../../canonical/text/events.ts'
import { GatewayError } from '../../../core/errors.ts'
import { testContext } from '../testing.ts'
import { readGeminiAnswer } from './read-answer.ts'
import { createGeminiReader } from './read-stream.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const streamOf = (frames: readonly unknown[], lineEnd = '\n') =>
  new TextEncoder().encode(
    frames.map((frame) => `data: ${JSON.stringify(frame)}${lineEnd}${lineEnd}`).join(''),
  )

/** A frame with these parts of the first candidate. */
const frame = (parts: readonly object[], more: object = {}, wire: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  modelVersion: 'gemini-3-pro-preview',
  responseId: 'r-1',
  ...wire,
})
const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 }
const end = (parts: readonly object[] = [{ text: '' }], finishReason = 'STOP') =>
  frame(parts, { finishReason }, { usageMetadata })

function eventsOf(bytes: Uint8Array, cuts: readonly number[] = []): TextEvent[] {
  const reader = createGeminiReader(testContext)
  const events: TextEvent[] = []
  let start = 0
  for (const cut of [...cuts, bytes.length]) {
    events.push(...reader.push(bytes.subarray(start, cut)))
    start = cut
  }
  return [...events, ...reader.end()]
}

const read = (...frames: readonly unknown[]): Answer => joinEvents(eventsOf(streamOf(frames)))

/** The parts of a choice, each by its contents. */
function told(answer: Answer, choice = 0) {
  return answer.choices[choice]?.parts.map(({ head, text, summary, sealed }) => {
    if (head.type === 'tool_call') return [head.name, head.id, text]
    if (head.type === 'reasoning')
      return sealed === null ? ['thought', ...summary] : ['seal', head.id, sealed]
    return [head.type, text]
  })
}

const made = (place: number) => `call_${testContext.generationId}_0_${place}`

describe('a stream', () => {
  test('is read the same wherever its reads end', () => {
    const bytes = streamOf(
      [
        frame([{ text: 'Hm — ', thought: true }]),
        frame([{ text: 'ja', thought: true }]),
        frame([{ text: 'Ein »Wort« 🙂' }]),
        frame([{ functionCall: { name: 'add', args: { a: 'ü' } }, thoughtSignature: 'c2ln' }]),
        frame([{ functionCall: { name: 'add', args: {} } }]),
        end(),
      ],
      '\r\n',
    )
    const whole = joinEvents(eventsOf(bytes))
    expect(told(whole)).toEqual([
      ['thought', 'Hm — ja'],
      ['text', 'Ein »Wort« 🙂'],
      ['seal', made(0), 'c2ln'],
      ['add', made(0), '{"a":"ü"}'],
      ['add', made(1), '{}'],
    ])
    expect(whole.choices[0]?.finish).toMatchObject({ reason: 'tool_calls', native: 'STOP' })
    for (let cut = 1; cut < bytes.length; cut += 1) expect(joinEvents(eventsOf(bytes, [cut]))).toEqual(whole)
    const everywhere = Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)
    expect(joinEvents(eventsOf(bytes, everywhere))).toEqual(whole)
  })

  test('gives the same contents as the whole answer', () => {
    const wire = end([
      { text: 'Hm.', thought: true },
      { text: 'Yes.', thoughtSignature: 'of-text' },
      { functionCall: { id: 'up-1', name: 'add', args: { a: 1 } } },
    ])
    expect(read(wire)).toEqual(readGeminiAnswer(bytesOf(wire), testContext))
    expect(told(read(wire))).toEqual([
      ['thought', 'Hm.'],
      ['seal', null, 'of-text'],
      ['text', 'Yes.'],
      ['add', 'up-1', '{"a":1}'],
    ])
  })

  test('sends the signature of a text after it when the text has already been sent', () => {
    const answer = read(
      frame([{ text: 'Th' }]),
      frame([{ text: 'ree' }]),
      end([{ text: '', thoughtSignature: 's' }]),
    )
    expect(told(answer)).toEqual([
      ['text', 'Three'],
      ['seal', null, 's'],
    ])
  })

  test('sends a thought with its signature', () => {
    const answer = read(
      frame([{ text: 'Hm.', thought: true, thoughtSignature: 's' }]),
      end([{ text: 'Yes.' }]),
    )
    const [thought] = answer.choices[0]?.parts ?? []
    expect(thought).toMatchObject({ summary: ['Hm.'], sealed: 's' })
  })

  test('gives calls that share an id different ids', () => {
    const call = { functionCall: { id: 'same', name: 'add', args: {} } }
    expect(told(read(end([call, call])))).toEqual([
      ['add', 'same', '{}'],
      ['add', made(1), '{}'],
    ])
  })

  test('keeps its candidates apart', () => {
    const candidate = (index: number, text: string, more: object = {}) => ({
      content: { parts: [{ text }] },
      index,
      ...more,
    })
    const answer = read(
      { candidates: [candidate(1, 'b'), candidate(0, 'a')] },
      { candidates: [candidate(0, 'a', { finishReason: 'STOP' })] },
      { candidates: [candidate(1, 'b', { finishReason: 'MAX_TOKENS' })], usageMetadata },
    )
    expect([told(answer, 0), told(answer, 1)]).toEqual([[['text', 'aa']], [['text', 'bb']]])
    expect(answer.choices.map(({ finish }) => finish?.reason)).toEqual(['stop', 'length'])
  })

  test('puts arguments together that come value by value', () => {
    const piece = (partialArgs: readonly object[], willContinue = true) =>
      frame([{ functionCall: { partialArgs, willContinue } }])
    const answer = read(
      frame([{ functionCall: { name: 'cook', willContinue: true }, thoughtSignature: 's' }]),
      piece([{ jsonPath: '$.dish', stringValue: 'Lasa', willContinue: true }]),
      piece([{ jsonPath: '$.dish', stringValue: 'gne' }]),
      piece([{ jsonPath: '$.steps[1].minutes', numberValue: 30 }]),
      piece([{ jsonPath: "$.steps[0]['it\\'s.done']", boolValue: false }]),
      piece([{ jsonPath: '$.__proto__', nullValue: 'NULL_VALUE' }]),
      frame([{ functionCall: {} }]),
      end(),
    )
    const args = JSON.parse(answer.choices[0]?.parts.at(-1)?.text ?? '')
    expect(args).toEqual(
      JSON.parse('{"dish":"Lasagne","steps":[{"it\'s.done":false},{"minutes":30}],"__proto__":null}'),
    )
  })

  test('ends a call whose last piece never came when the answer ends', () => {
    const answer = read(
      frame([{ functionCall: { name: 'cook', willContinue: true } }]),
      frame([{ functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'b' }], willContinue: true } }]),
      end(),
    )
    expect(told(answer)).toEqual([['cook', made(0), '{"a":"b"}']])
  })

  test('gives drawn images, and passes parts that only its format has', () => {
    const code = { executableCode: { language: 'PYTHON', code: '1+1' } }
    const answer = read(end([{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, code]))
    expect(answer.choices[0]?.parts.map(({ head }) => head)).toEqual([
      { type: 'image', mediaType: 'image/png', base64: 'AAAA' },
      { type: 'opaque', format: 'gemini', value: code },
    ])
  })

  test('names the sources of its text by characters', () => {
    const groundingMetadata = {
      groundingChunks: [
        { web: { uri: 'https://a.example', title: 'A' } },
        { web: { uri: 'https://b.example' } },
      ],
      groundingSupports: [
        { segment: { startIndex: 3, endIndex: 7, text: 'Tide' }, groundingChunkIndices: [0] },
      ],
    }
    const answer = read(
      frame([{ text: 'ü Ti' }]),
      frame([{ text: 'de' }], { finishReason: 'STOP', groundingMetadata }, { usageMetadata }),
    )
    expect(answer.choices[0]?.parts[0]?.annotations).toEqual([
      { url: 'https://a.example', title: 'A', citedText: 'Tide', start: 2, end: 6 },
      { url: 'https://b.example', title: null, citedText: null, start: null, end: null },
    ])
  })

  test('gives log probabilities of its tokens', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'Hi', tokenId: 1, logProbability: -0.1 }],
      topCandidates: [{ candidates: [{ token: 'Hey', logProbability: -2 }] }],
    }
    const answer = read(frame([{ text: 'Hi' }], { logprobsResult }), end())
    expect(answer.choices[0]?.parts[0]?.logprobs).toEqual([
      { token: 'Hi', logprob: -0.1, bytes: null, top: [{ token: 'Hey', logprob: -2, bytes: null }] },
    ])
  })
})

describe('an end', () => {
  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'error'],
    ['UNEXPECTED_TOOL_CALL', 'error'],
    ['TOO_MANY_TOOL_CALLS', 'error'],
    ['OTHER', 'error'],
    ['MODEL_ARMOR', 'content_filter'],
    ['A_NEW_WORD', 'error'],
  ])('of %s is %s', (native, reason) => {
    expect(read(end([{ text: 'a' }], native)).choices[0]?.finish).toMatchObject({ reason, native })
  })

  test('of a blocked prompt is a refusal without words, whole and streamed', () => {
    const wire = {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' },
      usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    }
    const finish = {
      reason: 'content_filter',
      native: 'PROHIBITED_CONTENT',
      stopSequence: null,
      refusal: { category: null, explanation: 'Not this.' },
    }
    for (const answer of [read(wire), readGeminiAnswer(bytesOf(wire), testContext)]) {
      expect(answer.choices).toEqual([{ parts: [], finish } as never])
      expect(answer.usage?.usage).toMatchObject({ inputTokens: 5, outputTokens: 0 })
    }
  })

  test('is missing where the body ended too early', () => {
    const events = eventsOf(streamOf([frame([{ text: 'a' }])]))
    expect(events.at(-1)).toMatchObject({ type: 'failure', error: { type: 'provider_failed' } })
    expect(eventsOf(new Uint8Array()).at(-1)).toMatchObject({ type: 'failure' })
  })

  test('is followed by nothing but empty frames', () => {
    expect(told(read(end([{ text: 'a' }]), end([{ text: '' }])))).toEqual([['text', 'a']])
    expect(eventsOf(streamOf([end([{ text: 'a' }]), frame([{ text: 'b' }])])).at(-1)).toMatchObject({
      type: 'failure',
    })
  })
})

describe('usage', () => {
  const usageOf = (wire: object) => read({ ...end(), usageMetadata: wire }).usage

  test('has thoughts in the output, and what tools read in the input', () => {
    const usage = usageOf({
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      toolUsePromptTokenCount: 10,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 5,
      totalTokenCount: 135,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 60 },
        { modality: 'AUDIO', tokenCount: 30 },
        { modality: 'DOCUMENT', tokenCount: 10 },
      ],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 7 }],
      serviceTier: 'FLEX',
    })
    expect(usage).toMatchObject({
      usage: {
        inputTokens: 110,
        cachedInputTokens: 40,
        inputAudioTokens: 30,
        outputTokens: 25,
        reasoningTokens: 5,
      },
      mediaTokens: { file_tokens: 10, image_tokens: 7 },
      serviceTier: 'flex',
    })
  })

  test('that omits zero counts is completed from its sum', () => {
    expect(usageOf({ promptTokenCount: 7, totalTokenCount: 7 })?.usage).toMatchObject({ outputTokens: 0 })
    expect(usageOf({ promptTokenCount: 7, thoughtsTokenCount: 3, totalTokenCount: 12 })?.usage).toMatchObject(
      {
        outputTokens: 5,
        reasoningTokens: 3,
      },
    )
  })

  test('without a usable count is absent', () => {
    for (const wire of [{}, { trafficType: 'ON_DEMAND' }, { promptTokenCount: -1 }, { promptTokenCount: 7 }])
      expect(usageOf(wire)).toBeNull()
    expect(usageOf({ ...usageMetadata, candidatesTokenCount: 1e300 })).toBeNull()
  })
})

describe('an error', () => {
  const error = {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'You exceeded your current quota.',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }],
  }

  test('inside a stream ends it, and says when to try again', () => {
    const events = eventsOf(streamOf([frame([{ text: 'a' }]), { error }]))
    expect(events.at(-1)).toMatchObject({
      type: 'failure',
      error: { type: 'upstream_rate_limited', retryAfterSeconds: 35 },
    })
  })

  test('with a success status is thrown', () => {
    const overloaded = { error: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' } }
    expect(() => readGeminiAnswer(bytesOf(overloaded), testContext)).toThrow('overloaded')
  })

  test('is reported for a body that is not an answer', () => {
    for (const junk of [{}, [], null, { candidates: [] }, { candidates: 'x' }, { promptFeedback: {} }])
      expect(() => readGeminiAnswer(bytesOf(junk), testContext)).toThrow(GatewayError)
  })
})

test('a stream of any kind is read without throwing, and ends once', () => {
  const value = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('$', '$.a', '$[3].b', '$.a[99999]', "$['"),
    fc.array(fc.string(), { maxLength: 2 }),
  )
  const partialArgs = fc.array(
    fc.record({ jsonPath: value, stringValue: value, numberValue: value }, { requiredKeys: [] }),
    { maxLength: 3 },
  )
  const called = fc.record(
    {
      name: value,
      id: value,
      args: fc.anything(),
      partialArgs: fc.oneof(partialArgs, value),
      willContinue: value,
    },
    { requiredKeys: [] },
  )
  const part = fc.record(
    {
      text: value,
      thought: value,
      thoughtSignature: value,
      functionCall: fc.oneof(called, value),
      inlineData: fc.oneof(fc.record({ mimeType: value, data: value }), value),
      executableCode: value,
    },
    { requiredKeys: [] },
  )
  const candidate = fc.record(
    {
      content: fc.oneof(fc.record({ parts: fc.oneof(fc.array(part, { maxLength: 3 }), value) }), value),
      index: fc.oneof(fc.integer({ min: -1, max: 300 }), value),
      finishReason: fc.oneof(fc.constant('STOP'), value),
      groundingMetadata: fc.anything(),
      citationMetadata: fc.anything(),
      logprobsResult: fc.anything(),
    },
    { requiredKeys: [] },
  )
  const wire = fc.record(
    {
      candidates: fc.oneof(fc.array(candidate, { maxLength: 3 }), value),
      usageMetadata: fc.anything(),
      promptFeedback: fc.oneof(fc.record({ blockReason: value }), value),
      error: fc.oneof(
        { weight: 9, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.anything() },
      ),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(wire, { maxLength: 5 }), (frames) => {
      const events = eventsOf(streamOf(frames))
      const failures = events.filter(({ type }) => type === 'failure')
      expect(failures.length).toBeLessThanOrEqual(1)
      if (failures.length > 0) expect(events.at(-1)?.type).toBe('failure')
      const open = new Map<number, number>()
      for (const event of events) {
        if (event.type === 'part_begin') {
          expect(open.has(event.choice)).toBe(false)
          open.set(event.choice, event.part)
        } else if (event.type === 'piece') expect(open.get(event.choice)).toBe(event.part)
        else if (event.type === 'part_end') open.delete(event.choice)
      }
      if (failures.length === 0) expect(open.size).toBe(0)
    }),
    { numRuns: 300 },
  )
})
