import { expect, test } from 'bun:test'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { captureRowOf } from '../../../test/simulation/billing-fixtures.ts'
import { noUsage } from '../../canonical/usage.ts'
import { toGeneration } from './generation.ts'
import { toOtlpBody } from './otlp-spans.ts'

type Captured = Parameters<typeof toGeneration>[0]

interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, unknown> }[]
  status: { code: number }
}

function bodyOf(change: Partial<Captured> = {}): string {
  return toOtlpBody(
    [toGeneration({ ...captureRowOf('gen-1750000000-00abcdefghijklmnopqr', 1_500_000n), ...change })],
    '9.9',
  )
}

function spanOf(change: Partial<Captured> = {}): Span {
  const { resourceSpans } = JSON.parse(bodyOf(change)) as {
    resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
  }
  const span = resourceSpans[0]?.scopeSpans[0]?.spans[0]
  if (span === undefined) throw new Error('there is no span')
  return span
}

function attributesOf(change: Partial<Captured> = {}): Record<string, unknown> {
  return Object.fromEntries(spanOf(change).attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

const asked = (trace: Record<string, unknown> | null, more: { isZdr?: boolean; model?: string } = {}) => ({
  asked: { model: more.model ?? 'maker/model', trace, isZdr: more.isZdr ?? false },
})

test('an export is byte for byte what the official serializer writes of the same span', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const parentSpanId = '00f067aa0ba902b7'
  const change = {
    ...asked({ trace_id: traceId, parent_span_id: parentSpanId, team: 'blue' }),
    latencyMs: 250,
  }
  const span = spanOf(change)
  const toValue = (value: Record<string, unknown>): unknown => {
    const [first] = Object.values(value)
    const list = (first as { values?: Record<string, unknown>[] }).values
    return list === undefined ? first : list.map(toValue)
  }
  const official = JsonTraceSerializer.serializeRequest([
    {
      name: 'chat maker/model',
      kind: 2,
      spanContext: () => ({ traceId, spanId: span.spanId, traceFlags: 1 }),
      parentSpanContext: { traceId, spanId: parentSpanId, traceFlags: 1 },
      startTime: [1_750_000_000, 0],
      endTime: [1_750_000_000, 250_000_000],
      status: { code: 1 },
      attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, toValue(value)])),
      links: [],
      events: [],
      duration: [0, 250_000_000],
      ended: true,
      resource: {
        attributes: { 'service.name': 'headrace', 'service.version': '9.9' },
        merge: (other: never) => other,
        getRawAttributes: () => [],
      },
      instrumentationScope: { name: 'headrace', version: '9.9' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    },
  ] as never)
  const wanted = JSON.parse(new TextDecoder().decode(official)) as {
    resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[]
  }
  // The flags say whether a parent is remote, which a gateway cannot know; they are optional.
  for (const each of wanted.resourceSpans[0]?.scopeSpans[0]?.spans ?? []) delete each['flags']
  expect(JSON.parse(bodyOf(change))).toEqual(wanted)
})

test('a span has the names of the GenAI conventions, and the cost', () => {
  const usage = {
    ...noUsage,
    inputTokens: 120,
    cachedInputTokens: 100,
    cacheWriteTokens: 7,
    outputTokens: 33,
    reasoningTokens: 11,
  }
  const found = attributesOf({
    ...asked(null, { model: 'maker/smart:floor' }),
    usage,
    sessionId: 'session 1',
    userId: 'user 1',
    streamed: true,
    latencyMs: 250,
  })
  expect(found).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'maker',
    'gen_ai.request.model': 'maker/smart:floor',
    'gen_ai.request.stream': true,
    'gen_ai.response.model': 'maker/model',
    'gen_ai.response.id': 'gen-1750000000-00abcdefghijklmnopqr',
    'gen_ai.response.time_to_first_chunk': 0.25,
    'gen_ai.usage.input_tokens': 120,
    'gen_ai.usage.output_tokens': 33,
    'gen_ai.usage.cache_read.input_tokens': 100,
    'gen_ai.usage.cache_creation.input_tokens': 7,
    'gen_ai.usage.reasoning.output_tokens': 11,
    'gen_ai.usage.cost': 0.0015,
    'gen_ai.conversation.id': 'session 1',
    'session.id': 'session 1',
    'user.id': 'user 1',
    'headrace.cost_nanocredits': '1500000',
  })
  const operations = [
    'responses',
    'messages',
    'completions',
    'embeddings',
    'rerank',
    'transcription',
    'speech',
  ]
  expect(operations.map((operation) => attributesOf({ operation })['gen_ai.operation.name'])).toEqual([
    'chat',
    'chat',
    'text_completion',
    'embeddings',
    'rerank',
    'transcription',
    'speech',
  ])
  expect(attributesOf({ isUnpriced: true, costNanocredits: 0n })).not.toHaveProperty('gen_ai.usage.cost')
})

test('a trace of W3C’s form is joined; another text always means the same trace of its organization', () => {
  const uuid = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736'
  expect(spanOf(asked({ trace_id: uuid })).traceId).toBe(uuid.replaceAll('-', ''))
  const [one, two, other] = [
    spanOf(asked({ trace_id: 'order 7' })),
    spanOf({ ...asked({ trace_id: 'order 7' }), generationId: 'gen-2' }),
    spanOf({ ...asked({ trace_id: 'order 7' }), organizationId: 'org_b' }),
  ]
  expect(one.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(two.traceId).toBe(one.traceId)
  expect(two.spanId).not.toBe(one.spanId)
  expect(other.traceId).not.toBe(one.traceId)
  expect(attributesOf(asked({ trace_id: 'order 7', parent_span_id: 'step' }))).toMatchObject({
    'trace.metadata.trace_id': 'order 7',
    'trace.metadata.parent_span_id': 'step',
  })
  expect(spanOf(asked({ parent_span_id: 'step' }))).not.toHaveProperty('parentSpanId')
  expect(spanOf(asked({ trace_id: '0'.repeat(32) })).traceId).not.toBe('0'.repeat(32))
  expect(spanOf().traceId).not.toBe(spanOf({ generationId: 'gen-2' }).traceId)
  expect(spanOf()).toEqual(spanOf())
})

test('other members of the trace become its metadata, and name the span', () => {
  const trace = {
    trace_name: 'order',
    span_name: 'step',
    generation_name: 'draft',
    feature: 'search',
    depth: 3,
    ratio: 0.5,
    isTest: true,
    nested: { a: [1] },
    nothing: null,
  }
  expect(spanOf(asked(trace)).name).toBe('draft')
  expect(spanOf(asked({ span_name: 'step' })).name).toBe('step')
  expect(spanOf().name).toBe('chat maker/model')
  const found = attributesOf(asked(trace))
  expect(found).toMatchObject({
    'trace.name': 'order',
    'trace.metadata.feature': 'search',
    'trace.metadata.depth': 3,
    'trace.metadata.ratio': 0.5,
    'trace.metadata.isTest': true,
    'trace.metadata.nested': '{"a":[1]}',
  })
  expect(found).not.toHaveProperty('trace.metadata.nothing')
  expect(found).not.toHaveProperty('trace.metadata.span_name')
})

test('a failed call is an error; one that its caller left is not', () => {
  expect(spanOf({ status: 'failed' }).status).toEqual({ code: 2 })
  expect(attributesOf({ status: 'failed' })).toMatchObject({
    'error.type': '_OTHER',
    'headrace.status': 'failed',
  })
  expect(spanOf({ status: 'cancelled' }).status).toEqual({ code: 1 })
  expect(attributesOf({ status: 'cancelled' })).toMatchObject({ 'headrace.status': 'cancelled' })
})

test('a call after another attempt ends when its own attempt did', () => {
  const span = spanOf({
    latencyMs: 5_000,
    generationMs: 900,
    details: { attempts: 2, tries: [{}, { latency: 400 }] },
  })
  // The second attempt began after 4.6 s and took 0.9 s.
  expect(span.startTimeUnixNano).toBe('1750000000000000000')
  expect(span.endTimeUnixNano).toBe('1750000005500000000')
})

test('a call under zero data retention is told without a word of its caller', () => {
  const words = {
    sessionId: 'SECRET session',
    userId: 'SECRET user',
    customId: 'SECRET id',
    details: { app_title: 'SECRET title', http_referer: 'https://SECRET.example' },
  }
  const trace = { trace_id: 'SECRET trace', generation_name: 'SECRET name', SECRET: 'SECRET' }
  expect(bodyOf({ ...words, ...asked(trace) })).toContain('SECRET')
  const told = bodyOf({ ...words, ...asked(trace, { isZdr: true }) })
  expect(told).not.toContain('SECRET')
  expect(told).toContain('headrace.zdr')
})

test('what a caller writes is cut, however much it is', () => {
  const trace = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`key ${index}`, 'x'.repeat(5_000)]),
  )
  const text = JSON.stringify(toGeneration({ ...captureRowOf('gen-1', 1n), ...asked(trace) }))
  expect(text.length).toBeLessThan(80_000)
})
