import fc from 'fast-check'
import { describe, expect, test } from 'bun:test'
import type { MeterReading } from '../../../canonical/upstream.ts'
import { GatewayError } from '../../../core/errors.ts'
import { callers, selectCodec, upstreams } from '../formats.ts'
import type { EncodedRequest } from '../halves.ts'
import { runStream, testCharge, testContext, testEndpoint, textOf } from '../testing.ts'
import { translate } from '../translate.ts'
import { decodeMessagesRequest } from './read-request.ts'
import { messagesQuirks } from './quirks.ts'

// The passage of bytes and the two halves show the same. Where the passage shows more, `differences` has the name and
// the reason.

type Wire = Record<string, unknown>

const passage = selectCodec('messages', 'messages')
const halves = translate(callers.messages, upstreams.messages)
const quirks = messagesQuirks()
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))

/** Differences in bodies with the same meaning. Each function makes both bodies equal. */
const differences: Readonly<Record<string, (body: Wire) => void>> = {
  'words alone are a list of one text': (body) => {
    for (const holder of [...messagesOf(body), ...resultsOf(body)]) toList(holder, 'content')
    toList(body, 'system')
  },
  'the default is not sent': (body) => {
    if (body['stream'] === false) delete body['stream']
    if (same(body['tool_choice'], { type: 'auto' })) delete body['tool_choice']
    for (const result of resultsOf(body)) if (result['is_error'] === false) delete result['is_error']
    for (const tool of toolsOf(body)) if (tool['type'] === 'custom') delete tool['type']
    for (const tool of toolsOf(body)) if (tool['strict'] === false) delete tool['strict']
  },
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
const messagesOf = (body: Wire) => body['messages'] as Wire[]
const toolsOf = (body: Wire) => (body['tools'] ?? []) as Wire[]
const resultsOf = (body: Wire) =>
  messagesOf(body)
    .flatMap(({ content }) => (Array.isArray(content) ? (content as Wire[]) : []))
    .filter(({ type }) => type === 'tool_result')

function toList(holder: Wire, name: string): void {
  const value = holder[name]
  if (typeof value === 'string') holder[name] = [{ type: 'text', text: value }]
}

function alike(body: Wire): Wire {
  for (const change of Object.values(differences)) change(body)
  return body
}

const word = fc.constantFrom('Hi.', 'Größe 東京 🦆', '"quoted"\n', '{"a":1}', 'x'.repeat(300))
const mark = fc.option(
  fc.constantFrom<Wire>(
    { cache_control: { type: 'ephemeral' } },
    { cache_control: { type: 'ephemeral', ttl: '1h' } },
  ),
  { nil: {} },
)
const citation = {
  type: 'char_location',
  cited_text: 'x',
  document_index: 0,
  start_char_index: 0,
  end_char_index: 1,
}
const marked = (block: fc.Arbitrary<Wire>) =>
  fc.tuple(block, mark).map(([wire, more]) => ({ ...wire, ...more }))
const text = marked(word.map((said) => ({ type: 'text', text: said })))
const cited = text.map((block) => ({ ...block, citations: [citation] }))
const image = marked(
  fc.constantFrom<Wire>(
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
    { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
  ),
)
const document = marked(
  fc.constantFrom<Wire>(
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' },
      title: 'a.pdf',
    },
    { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' }, context: 'It is old.' },
    {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Hi.' },
      citations: { enabled: true },
    },
    { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Hi.' }] } },
  ),
)
const opaque = fc.constantFrom<Wire>(
  { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'a' } },
  { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
  { type: 'container_upload', file_id: 'file_1' },
)
const input = fc.constantFrom<Wire>({}, { city: 'Oslo' }, { deep: { list: [1, null, 'x'], '"': true } })
const call = marked(
  fc
    .tuple(fc.nat(99), fc.constantFrom('a', 'b'), input)
    .map(([id, name, given]) => ({ type: 'tool_use', id: `t${id}`, name, input: given })),
)
const result = marked(
  fc
    .tuple(
      fc.nat(99),
      fc.oneof(word, fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 2 })),
      fc.constantFrom<Wire>({}, { is_error: true }, { is_error: false }),
    )
    .map(([id, content, more]) => ({ type: 'tool_result', tool_use_id: `t${id}`, content, ...more })),
)
const thought = fc.constantFrom<Wire>(
  { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'c2VhbGVk' },
)
const foreign = fc.constantFrom<Wire>(
  { type: 'thinking', thinking: 'hm', signature: 'hr1.chat.s..QUJD' },
  { type: 'redacted_thinking', data: 'hr1.responses.e.rs_1.QUJD' },
)

const asked = fc.oneof(
  word,
  fc
    .tuple(
      fc.array(result, { maxLength: 2 }),
      fc.array(fc.oneof(text, image, document, opaque), { minLength: 1, maxLength: 3 }),
    )
    .map(([results, others]): Wire[] => [...results, ...others]),
)
const answered = fc.oneof(
  word,
  fc.array(fc.oneof(text, cited, call, thought, opaque), { minLength: 1, maxLength: 4 }),
)
/** Roles alternate, as the provider requires. A thought of another provider stands beside the part it led to. */
const turns = fc
  .array(fc.tuple(asked, answered, fc.option(foreign)), { minLength: 1, maxLength: 3 })
  .map((pairs) =>
    pairs.flatMap(([question, reply, thoughtOfOther]) => [
      { role: 'user', content: question },
      {
        role: 'assistant',
        content: thoughtOfOther === null || typeof reply === 'string' ? reply : [thoughtOfOther, ...reply],
      },
    ]),
  )
const request = fc
  .record(
    {
      model: fc.constant('a/b'),
      max_tokens: fc.integer({ min: 2_000, max: 9_999 }),
      messages: turns,
      system: fc.oneof(word, fc.array(text, { minLength: 1, maxLength: 2 })),
      stop_sequences: fc.constantFrom([['END'], ['a', 'b', 'c', 'd', 'e']]).map(([some]) => some),
      temperature: fc.constantFrom(0, 0.5, 1, null),
      top_p: fc.constant(0.5),
      top_k: fc.constant(5),
      thinking: fc.constantFrom<Wire>({ type: 'enabled', budget_tokens: 1_024 }, { type: 'disabled' }),
      output_config: fc.constant({
        format: {
          type: 'json_schema',
          schema: { type: 'object', properties: {}, additionalProperties: false },
        },
      }),
      tools: fc.constantFrom<Wire[]>(
        [
          {
            type: 'custom',
            name: 'a',
            description: 'It tells.',
            input_schema: {
              type: 'object',
              properties: { n: { type: 'integer', maximum: 9 } },
              required: ['n'],
            },
            strict: true,
            cache_control: { type: 'ephemeral' },
          },
        ],
        [
          { name: 'a', input_schema: { type: 'object', properties: {} }, defer_loading: true },
          { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
        ],
      ),
      tool_choice: fc.constantFrom<Wire>(
        { type: 'auto' },
        { type: 'auto', disable_parallel_tool_use: true },
        { type: 'any' },
        { type: 'tool', name: 'a' },
        { type: 'none' },
      ),
      metadata: fc.constantFrom({ user_id: 'u1' }, null),
      cache_control: fc.constant({ type: 'ephemeral' }),
      stream: fc.boolean(),
      provider: fc.constant({ order: ['x'] }),
      session_id: fc.constant('s'),
    },
    { requiredKeys: ['model', 'max_tokens', 'messages'] },
  )
  // A choice needs tools. While thinking, the provider refuses sampling and a forced tool; the passage leaves that to
  // the provider.
  .map(({ tool_choice: choice, thinking, ...body }): Wire => {
    const isChosen = choice !== undefined && body.tools !== undefined
    const isSampled = body.temperature !== undefined || body.top_p !== undefined || body.top_k !== undefined
    const isForced = isChosen && (choice['type'] === 'any' || choice['type'] === 'tool')
    return {
      ...body,
      ...(isChosen ? { tool_choice: choice } : {}),
      ...(thinking !== undefined && !isSampled && !isForced ? { thinking } : {}),
    }
  })

/** The request for a host and its losses, or the member for which the call is refused. */
function outcomeOf(encode: () => EncodedRequest) {
  try {
    const encoded = encode()
    return {
      body: alike(JSON.parse(textOf(encoded.body)) as Wire),
      dropped: [...encoded.dropped].toSorted(),
    }
  } catch (error) {
    if (!(error instanceof GatewayError) || error.type !== 'invalid_request') throw error
    return { refused: error.param }
  }
}

test('a request of messages is the same as through both halves, with the same losses', () => {
  fc.assert(
    fc.property(request, (body) => {
      const read = () => decodeMessagesRequest(bytesOf(body), { sessionIdHeader: null })
      const [passed, written] = [passage, halves].map((codec) =>
        outcomeOf(() => codec.encodeRequest(read(), testEndpoint('up'), quirks)),
      )
      expect(written).toEqual(passed as never)
    }),
    { numRuns: 300 },
  )
})

/** The contents of an answer as a client reads it, whole or in pieces. */
interface Told {
  who: unknown[]
  blocks: Wire[]
  stop: unknown[]
  usage: unknown[]
}

function toldBy(message: Wire): Told {
  const { id, type, role, model, provider, container } = message
  const usage = message['usage'] as Wire
  return {
    who: [id, type, role, model, provider, container],
    blocks: (message['content'] as Wire[]).map(toBlock),
    stop: [toStop(message), message['stop_sequence'], toDetails(message['stop_details'])],
    usage: ['input_tokens', 'output_tokens', 'cost', 'is_byok'].map((name) => usage[name]),
  }
}

/** An empty list of citations, and the model as the caller of a tool, are defaults. */
function toBlock({ citations, caller: _model, ...block }: Wire): Wire {
  return Array.isArray(citations) && citations.length > 0 ? { ...block, citations } : block
}

/**
 * A stop reason that this gateway does not know stays for clients of the provider's own format. So does the end of a
 * turn in which the provider ran tools itself; clients of another format would think that they must run them.
 */
function toStop({ stop_reason: reason, content }: Wire): unknown {
  if (reason !== 'tired' && reason !== 'end_turn') return reason
  return (content as Wire[]).some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
}

/** A refusal without details. */
function toDetails(details: unknown): unknown {
  return same(details, { type: 'refusal', category: null, explanation: null }) ? null : details
}

const block = fc.oneof(
  word.map((said): Wire => ({ type: 'text', text: said })),
  word.map((said): Wire => ({ type: 'text', text: said, citations: [citation] })),
  // Members that only this format has.
  word.map((said): Wire => ({ type: 'text', text: said, my_mark: { a: 1 } })),
  word.map((said): Wire => ({ type: 'thinking', thinking: said, signature: 'c2ln', my_mark: 'b' })),
  fc.constant<Wire>({ type: 'redacted_thinking', data: 'c2VhbGVk', my_mark: 'c' }),
  input.map((given): Wire => ({
    type: 'tool_use',
    id: 't1',
    name: 'a',
    input: given,
    caller: { type: 'direct' },
  })),
  word.map((said): Wire => ({ type: 'thinking', thinking: said, signature: 'c2ln' })),
  fc.constant<Wire>({ type: 'redacted_thinking', data: 'c2VhbGVk' }),
  fc
    .tuple(fc.nat(99), input)
    .map(([id, given]): Wire => ({ type: 'tool_use', id: `t${id}`, name: 'a', input: given })),
  opaque,
)
const ending = fc.constantFrom<Wire>(
  { stop_reason: 'end_turn' },
  { stop_reason: 'end_turn', stop_sequence: null, stop_details: null },
  { stop_reason: 'max_tokens' },
  { stop_reason: 'tool_use' },
  { stop_reason: 'stop_sequence', stop_sequence: 'END' },
  { stop_reason: 'pause_turn' },
  { stop_reason: 'refusal' },
  {
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: 'cyber', explanation: 'It is not allowed.' },
  },
)
const answer = fc.record({ blocks: fc.array(block, { maxLength: 4 }), ending })
type Given = typeof answer extends fc.Arbitrary<infer Value> ? Value : never

const usage = { input_tokens: 3, output_tokens: 4 }
const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up' }
const wholeOf = ({ blocks, ending: end }: Given): Wire => ({ ...head, content: blocks, ...end, usage })

/** The contents that every way must show. */
const expected = ({ blocks, ending: end }: Given): Told => ({
  who: ['gen-1-abc', 'message', 'assistant', 'openai/gpt-4o-mini', 'OpenAI', null],
  blocks: blocks.map(toBlock),
  stop: [
    toStop({ ...end, content: blocks }),
    end['stop_sequence'] ?? null,
    toDetails(end['stop_details'] ?? null),
  ],
  usage: [3, 4, 0.00000003, false],
})

const anyCall = decodeMessagesRequest(
  bytesOf({ model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
  { sessionIdHeader: null },
)

/** The same answer in pieces; the arguments of a call come at its beginning or character by character. */
function piecesOf({ blocks, ending: end }: Given, isWhole: boolean): Wire[] {
  return [
    {
      type: 'message_start',
      message: { ...head, content: [], usage: { input_tokens: 3, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...blocks.flatMap((given, index) => [
      { type: 'content_block_start', index, content_block: begunOf(given, isWhole) },
      ...deltasOf(given, isWhole).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: end, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ]
}

function begunOf(given: Wire, isWhole: boolean): Wire {
  const { citations: _citations, ...rest } = given
  if (given['type'] === 'text') return { ...rest, text: '' }
  if (given['type'] === 'thinking') return { ...rest, thinking: '', signature: '' }
  return given['type'] === 'tool_use' && !isWhole ? { ...given, input: {} } : given
}

function deltasOf({ type, text: said, thinking, input: given, citations }: Wire, isWhole: boolean): Wire[] {
  const words = (value: unknown) => String(value).split(/(?<= )|(?=\p{L})/u)
  if (type === 'text')
    return [
      ...words(said).map((each) => ({ type: 'text_delta', text: each })),
      ...(citations === undefined ? [] : [{ type: 'citations_delta', citation }]),
    ]
  if (type === 'thinking')
    return [
      ...words(thinking).map((each) => ({ type: 'thinking_delta', thinking: each })),
      { type: 'signature_delta', signature: 'c2ln' },
    ]
  if (type !== 'tool_use' || isWhole) return []
  return ['', ...JSON.stringify(given)].map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
}

function streamOf(events: readonly Wire[]): Uint8Array {
  return Buffer.from(
    events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
}

/** The message in the events of a stream, put together as the format's own clients do. */
function messageOf(stream: string): Wire {
  let message: Wire & { content: Wire[] } = { content: [] }
  for (const frame of stream.split('\n\n').filter((each) => each !== '')) {
    const [event = '', data = ''] = frame.split('\n')
    const wire = JSON.parse(data.slice('data: '.length)) as Wire
    expect(event).toBe(`event: ${String(wire['type'])}`)
    const at = message.content[Number(wire['index'])]
    switch (wire['type']) {
      case 'message_start':
        message = { ...(wire['message'] as typeof message) }
        break
      case 'content_block_start':
        message.content[Number(wire['index'])] = { ...(wire['content_block'] as Wire) }
        break
      case 'content_block_delta':
        if (at !== undefined) addDelta(at, wire['delta'] as Wire)
        break
      case 'content_block_stop':
        if (at?.['json'] !== undefined) at['input'] = JSON.parse(String(at['json']))
        delete at?.['json']
        break
      case 'message_delta':
        Object.assign(message, wire['delta'], {
          usage: { ...(message['usage'] as Wire), ...(wire['usage'] as Wire) },
        })
    }
  }
  return message
}

function addDelta(at: Wire, delta: Wire): void {
  const { type, partial_json: piece, ...rest } = delta
  if (type === 'citations_delta')
    at['citations'] = [...((at['citations'] ?? []) as unknown[]), delta['citation']]
  else if (type === 'input_json_delta') at['json'] = `${String(at['json'] ?? '')}${String(piece)}`
  else
    for (const [name, value] of Object.entries(rest)) at[name] = `${String(at[name] ?? '')}${String(value)}`
}

const readOf = ({ finishReason, nativeFinishReason, usage: read, outputPieces }: MeterReading) => ({
  finishReason,
  nativeFinishReason,
  read,
  outputPieces,
})

describe('an answer of messages', () => {
  test('shows as a whole body the same as both halves', () => {
    fc.assert(
      fc.property(answer, (given) => {
        const [passed, written] = [passage, halves].map((codec) => {
          const decoded = codec.decodeAnswer(bytesOf(wholeOf(given)), testContext, quirks, anyCall)
          const body = JSON.parse(textOf(decoded.encode(testCharge))) as Wire
          return { told: toldBy(body), reading: readOf(decoded.reading) }
        })
        expect(passed?.told).toEqual(expected(given))
        expect(written).toEqual(passed as never)
      }),
      { numRuns: 200 },
    )
  })

  test('shows as a stream the same as both halves, cut anywhere', () => {
    fc.assert(
      fc.property(answer, fc.boolean(), fc.array(fc.nat(3_000), { maxLength: 6 }), (given, isWhole, cuts) => {
        const bytes = streamOf(piecesOf(given, isWhole))
        const [passed, written] = [passage, halves].map((codec) => {
          const rewriter = codec.createStream(testContext, quirks, anyCall)
          const within = cuts.filter((cut) => cut < bytes.length)
          const { shown, ending: end } = runStream(rewriter, bytes, within)
          expect(rewriter.failure).toBeNull()
          return { told: toldBy(messageOf(shown + end)), reading: readOf(rewriter.reading()) }
        })
        expect(passed?.told).toEqual(expected(given))
        expect(written).toEqual(passed as never)
      }),
      { numRuns: 200 },
    )
  })
})
