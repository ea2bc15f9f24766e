import fc from 'fast-check'
import { describe, expect, test } from 'bun:test'
import type { MeterReading } from '../../../canonical/upstream.ts'
import { GatewayError } from '../../../core/errors.ts'
import { callers, selectCodec, upstreams } from '../formats.ts'
import type { EncodedRequest } from '../halves.ts'
import { runStream, testCharge, testContext, testEndpoint, textOf } from '../testing.ts'
import { translate } from '../translate.ts'
import { decodeResponsesRequest } from './read-request.ts'
import { responsesQuirks } from './quirks.ts'

// The passage of bytes and the two halves show the same. Where the passage shows more, the code that makes both equal
// has the reason.

type Wire = Record<string, unknown>

const passage = selectCodec('responses', 'responses')
const halves = translate(callers.responses, upstreams.responses)
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))

const word = fc.constantFrom('Hi.', 'Größe 東京 🦆', '"quoted"\n', '{"a":1}', 'x'.repeat(300))
const image = fc.constantFrom<Wire>(
  { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
  { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' },
  { type: 'input_image', file_id: 'file_1', detail: 'auto' },
)
const file = fc.constantFrom<Wire>(
  { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' },
  { type: 'input_file', file_url: 'https://example.com/a.pdf' },
  { type: 'input_file', file_id: 'file_1' },
)
const words = word.map((text): Wire => ({ type: 'input_text', text }))
const asked = fc
  .array(fc.oneof(words, image, file), { minLength: 1, maxLength: 3 })
  .map((content): Wire => ({ type: 'message', role: 'user', content }))
const spoken = word.map((text): Wire => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
}))
const thought = fc.constantFrom<Wire>(
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    encrypted_content: 'c2VhbGVk',
  },
  { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'c2VhbGVk' },
)
const lost = fc.constantFrom<Wire>(
  { type: 'reasoning', id: 'rs_3', summary: [], encrypted_content: 'hr1.messages.s..QUJD' },
  { type: 'reasoning', id: 'rs_4', summary: [] },
)
const called = fc.constantFrom<readonly Wire[]>(
  [
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"n":12345678901234567890}' },
    { type: 'function_call_output', call_id: 'c1', output: 'ok' },
  ],
  [
    { type: 'custom_tool_call', call_id: 'c2', name: 'sql', input: 'select 1' },
    {
      type: 'custom_tool_call_output',
      call_id: 'c2',
      output: [{ type: 'input_image', image_url: 'https://e.com/a.png' }],
    },
  ],
  [{ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } }],
)
const turn = fc
  .tuple(asked, fc.option(lost), fc.option(thought), spoken, fc.option(called))
  .map(([question, foreign, own, answer, calls]) =>
    [question, foreign, own, answer, ...(calls ?? [])].filter((item) => item !== null),
  )
const request = fc
  .record(
    {
      model: fc.constant('a/b'),
      input: fc.array(turn, { minLength: 1, maxLength: 3 }).map((turns) => turns.flat()),
      instructions: word,
      max_output_tokens: fc.constantFrom(5, 900, null),
      temperature: fc.constantFrom(0, 1, null),
      top_p: fc.constant(0.5),
      top_k: fc.constant(5),
      presence_penalty: fc.constant(1),
      reasoning: fc.constantFrom<Wire>(
        { effort: 'low', summary: 'auto' },
        { effort: 'none' },
        { max_tokens: 9_000 },
        { enabled: false },
      ),
      text: fc.constantFrom<Wire>(
        { format: { type: 'json_object' } },
        {
          format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true },
          verbosity: 'low',
        },
      ),
      tools: fc.constant([
        { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: true },
        { type: 'custom', name: 'sql', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
        { type: 'web_search' },
      ]),
      parallel_tool_calls: fc.boolean(),
      user: fc.constantFrom('u', 'u'.repeat(70)),
      service_tier: fc.constantFrom('auto', 'flex', 'priority'),
      prompt_cache_key: fc.constant('k'),
      cache_control: fc.constant({ type: 'ephemeral' }),
      stream: fc.constant(true),
      provider: fc.constant({ order: ['x'] }),
      session_id: fc.constant('s'),
    },
    { requiredKeys: ['model', 'input', 'tools'] },
  )
  .map((body): Wire => body)

/** A model that thinks, one that does not, and a host with few members. */
const hosts = [
  responsesQuirks({
    modelOf: () => ({ reasons: true, sampling: 'never' }),
    sealsThoughts: true,
    hasOpenAiMembers: true,
    outputTokensMin: 16,
    userLengthMax: 64,
  }),
  responsesQuirks({
    modelOf: () => ({ reasons: false, sampling: 'always' }),
    sealsThoughts: true,
    serviceTiers: ['flex'],
  }),
]

function outcomeOf(encode: () => EncodedRequest) {
  try {
    const { body, dropped, approximated = [] } = encode()
    return {
      body: JSON.parse(textOf(body)) as Wire,
      dropped: [...new Set(dropped)].toSorted(),
      approximated: [...approximated].toSorted(),
    }
  } catch (error) {
    if (!(error instanceof GatewayError) || error.type !== 'invalid_request') throw error
    return { refused: error.param }
  }
}

test('a request of responses is the same as through both halves, with the same losses', () => {
  fc.assert(
    fc.property(request, fc.constantFrom(...hosts), (body, quirks) => {
      const read = () => decodeResponsesRequest(bytesOf(body), { sessionIdHeader: null })
      const [passed, written] = [passage, halves].map((codec) =>
        outcomeOf(() => codec.encodeRequest(read(), testEndpoint('up'), quirks)),
      )
      expect(written).toEqual(passed as never)
    }),
    { numRuns: 300 },
  )
})

const citation = { type: 'url_citation', url: 'https://e.com', title: 'E', start_index: 0, end_index: 1 }
const text = (value: string, annotations: Wire[] = []): Wire => ({
  type: 'output_text',
  text: value,
  annotations,
  logprobs: [],
})
const ids = { msg: 'message', rs: 'reasoning', fc: 'function_call', ctc: 'custom_tool_call' } as const
const item = fc.oneof(
  word.map((value): Wire => ({ type: ids.msg, role: 'assistant', content: [text(value)] })),
  word.map((value): Wire => ({ type: ids.msg, role: 'assistant', content: [text(value, [citation])] })),
  word.map((refusal): Wire => ({
    type: ids.msg,
    role: 'assistant',
    content: [{ type: 'refusal', refusal }],
  })),
  word.map((value): Wire => ({
    type: ids.rs,
    summary: [{ type: 'summary_text', text: value }],
    encrypted_content: 'c2Vh',
  })),
  word.map((value): Wire => ({
    type: ids.rs,
    summary: [],
    content: [{ type: 'reasoning_text', text: value }],
  })),
  fc.nat(99).map((n): Wire => ({
    type: ids.fc,
    call_id: `c${n}`,
    name: 'f',
    arguments: '{"n":12345678901234567890}',
  })),
  fc.nat(99).map((n): Wire => ({ type: ids.ctc, call_id: `c${n}`, name: 'sql', input: 'select 1' })),
  fc.constant<Wire>({ type: 'web_search_call', action: { type: 'search', query: 'a' } }),
)
const ending = fc.constantFrom<Wire>(
  { status: 'completed', incomplete_details: null },
  { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
)
/** The halves join neighbouring messages, so none are drawn. */
const answer = fc.record({
  output: fc
    .array(item, { maxLength: 4 })
    .map((items) =>
      items
        .filter(({ type }, index) => type !== 'message' || items[index - 1]?.['type'] !== 'message')
        .map((each, index): Wire => ({ id: `x_${index}`, status: 'completed', ...each })),
    ),
  ending,
})
type Given = typeof answer extends fc.Arbitrary<infer Value> ? Value : never

const usage = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 1 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 7,
}
const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'up', error: null }
const wholeOf = ({ output, ending: end }: Given): Wire => ({ ...head, ...end, output, usage })

/** The halves make their own ids and have no status of thoughts; a search passes unchanged. */
function toldBy(response: Wire) {
  const { id, object, status, model, provider, store, incomplete_details: why } = response
  const counted = response['usage'] as Wire
  return {
    who: [id, object, model, provider, store],
    end: [status, why, response['error']],
    output: (response['output'] as Wire[]).map(({ id: _id, status: _status, ...rest }) => rest),
    usage: ['input_tokens', 'output_tokens', 'total_tokens', 'cost', 'is_byok'].map((name) => counted[name]),
  }
}

const call = decodeResponsesRequest(bytesOf({ model: 'a/b', input: 'x' }), { sessionIdHeader: null })
const quirks = responsesQuirks()

function eventsOf(given: Given): Wire[] {
  const begun = { ...head, status: 'in_progress', output: [], usage: null }
  const events: Wire[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...given.output.flatMap((each, index) => [
      { type: 'response.output_item.added', output_index: index, item: announced(each) },
      ...piecesOf(each).map((piece): Wire => ({ output_index: index, item_id: each['id'], ...piece })),
      { type: 'response.output_item.done', output_index: index, item: each },
    ]),
    { type: `response.${String(given.ending['status'])}`, response: wholeOf(given) },
  ]
  return events.map((event, index) => ({ ...event, sequence_number: index }))
}

function announced(each: Wire): Wire {
  const { encrypted_content: _sealed, ...rest } = each
  if (each['type'] === ids.msg) return { ...each, content: [] }
  if (each['type'] === ids.rs) return { ...rest, summary: [], content: [] }
  if (each['type'] === ids.fc) return { ...each, arguments: '' }
  return each['type'] === ids.ctc ? { ...each, input: '' } : each
}

function piecesOf(each: Wire): Wire[] {
  const split = (value: unknown) => String(value).split(/(?<= )|(?=\p{L})/u)
  const deltas = (type: string, value: unknown, more: Wire = {}) =>
    split(value).map((delta): Wire => ({ type: `response.${type}.delta`, delta, ...more }))
  const [part] = (each['content'] ?? []) as Wire[]
  const [summary] = (each['summary'] ?? []) as Wire[]
  const at = { content_index: 0 }
  if (each['type'] === ids.fc) return deltas('function_call_arguments', each['arguments'])
  if (each['type'] === ids.ctc) return deltas('custom_tool_call_input', each['input'])
  if (each['type'] === ids.rs)
    return summary
      ? deltas('reasoning_summary_text', summary['text'], { summary_index: 0 })
      : deltas('reasoning_text', part?.['text'], at)
  if (part?.['type'] === 'refusal') return deltas('refusal', part['refusal'], at)
  if (each['type'] !== ids.msg) return []
  const cited = ((part?.['annotations'] ?? []) as Wire[]).map((annotation, index) => ({
    type: 'response.output_text.annotation.added',
    annotation,
    annotation_index: index,
    ...at,
  }))
  return [...deltas('output_text', part?.['text'], { logprobs: [], ...at }), ...cited]
}

function streamOf(events: readonly Wire[]): Uint8Array {
  return Buffer.from(
    events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
}

/** The events of a stream for a client; numbers have no gaps, and event names equal the types in the data. */
function eventsIn(stream: string): Wire[] {
  const frames = stream.split('\n\n').filter((each) => each !== '')
  return frames.map((frame, index) => {
    const [name = '', data = ''] = frame.split('\n')
    const wire = JSON.parse(data.slice('data: '.length)) as Wire
    expect([name, wire['sequence_number']]).toEqual([`event: ${String(wire['type'])}`, index])
    return wire
  })
}

const readOf = ({ finishReason, nativeFinishReason, usage: read, outputPieces }: MeterReading) => ({
  finishReason,
  nativeFinishReason,
  read,
  outputPieces,
})

describe('an answer of responses', () => {
  test('shows as a whole body the same as both halves', () => {
    fc.assert(
      fc.property(answer, (given) => {
        const [passed, written] = [passage, halves].map((codec) => {
          const decoded = codec.decodeAnswer(bytesOf(wholeOf(given)), testContext, quirks, call)
          const body = JSON.parse(textOf(decoded.encode(testCharge))) as Wire
          return { told: toldBy(body), reading: readOf(decoded.reading) }
        })
        expect(passed?.told.who).toEqual(['gen-1-abc', 'response', 'openai/gpt-4o-mini', 'OpenAI', false])
        expect(passed?.told.usage).toEqual([3, 4, 7, 0.00000003, false])
        expect(passed?.told.output).toEqual(toldBy({ ...wholeOf(given), usage }).output)
        expect(written).toEqual(passed as never)
      }),
      { numRuns: 200 },
    )
  })

  test('shows as a stream the same as both halves, cut anywhere', () => {
    fc.assert(
      fc.property(answer, fc.array(fc.nat(3_000), { maxLength: 6 }), (given, cuts) => {
        const bytes = streamOf(eventsOf(given))
        const [passed, written] = [passage, halves].map((codec) => {
          const rewriter = codec.createStream(testContext, quirks, call)
          const { shown, ending: end } = runStream(
            rewriter,
            bytes,
            cuts.filter((cut) => cut < bytes.length),
          )
          expect(rewriter.failure).toBeNull()
          const events = eventsIn(shown + end)
          const deltas = events.filter(({ delta }) => typeof delta === 'string' && delta !== '')
          return {
            told: toldBy(events.at(-1)?.['response'] as Wire),
            deltas: deltas.map(({ type, output_index: at, delta }) => [type, at, delta]),
            reading: readOf(rewriter.reading()),
          }
        })
        expect(passed?.told.output).toEqual(toldBy({ ...wholeOf(given), usage }).output)
        expect(written).toEqual(passed as never)
      }),
      { numRuns: 200 },
    )
  })

  test('passes byte for byte except for ids and cost', () => {
    const number = '{"n":12345678901234567890.10, "e":1e400}'
    const output = `[{"id":"x", "type":"mcp_call","big":12345678901234567890,"output":${JSON.stringify(number)}}]`
    const body = Buffer.from(
      `{"id":"resp_1","status":"completed","odd": 1.50,"output":${output},"usage":null}`,
    )
    const shown = textOf(passage.decodeAnswer(body, testContext, quirks, call).encode(testCharge))
    expect(shown).toContain(`"odd": 1.50`)
    expect(shown).toContain(`"output":${output}`)
    expect(shown).not.toContain('resp_1')
  })

  test('that breaks the format’s rules is read and written anew', () => {
    const { response } = eventsOf({ output: [], ending: { status: 'completed' } }).at(-1) ?? {}
    const said = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [text('Hi.')] }
    const whole = { ...(response as Wire), output: [said] }
    const forms = [
      Buffer.from(JSON.stringify(whole)),
      streamOf([{ type: 'response.completed', response: whole }]),
      streamOf([
        { type: 'response.created', response: head },
        { type: 'response.output_text.delta', output_index: 0, delta: 'Hi.' },
        { type: 'response.completed', response: { ...whole, output: [] } },
      ]),
    ]
    for (const bytes of forms) {
      const rewriter = passage.createStream(testContext, quirks, call)
      const { shown, ending: end } = runStream(rewriter, bytes)
      expect(rewriter.failure).toBeNull()
      const events = eventsIn(shown + end)
      expect(events[0]?.['type']).toBe('response.created')
      expect(toldBy(events.at(-1)?.['response'] as Wire).output).toMatchObject([
        { content: [{ text: 'Hi.' }] },
      ])
    }
  })

  test('that breaks off is reported as failed, with its unfinished items', () => {
    const message = { id: 'm', type: 'message', role: 'assistant', content: [] }
    const events = [
      { type: 'response.created', response: head, sequence_number: 0 },
      { type: 'response.output_item.added', output_index: 0, item: message, sequence_number: 1 },
      {
        type: 'response.output_text.delta',
        output_index: 0,
        content_index: 0,
        delta: 'He',
        sequence_number: 2,
      },
      { type: 'error', error: { type: 'server_error', message: 'no' }, sequence_number: 3 },
    ]
    const rewriter = passage.createStream(testContext, quirks, call)
    const piece = rewriter.push(streamOf(events))
    rewriter.end()
    expect(rewriter.failure).toMatchObject({ type: 'provider_failed' })
    const failure = rewriter.failure ?? new GatewayError('internal', 'no failure')
    const shown = eventsIn(textOf([piece ?? '']) + new TextDecoder().decode(rewriter.encodeError(failure)))
    expect(shown.map(({ type }) => type)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.output_text.delta',
      'error',
      'response.failed',
    ])
    const failed = shown.at(-1)?.['response'] as Wire
    expect(failed['output']).toMatchObject([{ id: 'm', status: 'incomplete', content: [{ text: 'He' }] }])
  })

  test('that breaks off before any output has shown nothing, so that another endpoint may answer', () => {
    const rewriter = passage.createStream(testContext, quirks, call)
    const begun = [
      { type: 'response.created', response: head, sequence_number: 0 },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'm', type: 'message', content: [] },
        sequence_number: 1,
      },
    ]
    expect(rewriter.push(streamOf(begun))).toBeNull()
    rewriter.end()
    expect([rewriter.hasShownOutput, rewriter.failure?.type]).toEqual([false, 'provider_failed'])
  })
})
