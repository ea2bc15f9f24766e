import { createHash } from 'node:crypto'
import type { Generation } from './generation.ts'

/** Names of operations in the GenAI semantic conventions; the others keep their own, as the conventions allow. */
const operationNames: Readonly<Record<string, string>> = {
  chat_completions: 'chat',
  responses: 'chat',
  messages: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
}

/** `SPAN_KIND_CLIENT`, and the codes of a status. */
const clientKind = 3
const okCode = 1
const errorCode = 2

/** Members of a caller's `trace` that say where the span belongs and what it is called. */
const ownTraceMembers: ReadonlySet<string> = new Set([
  'trace_id',
  'parent_span_id',
  'trace_name',
  'span_name',
  'generation_name',
])

type AttributeValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: number }
  | { doubleValue: number }
  | { arrayValue: { values: AttributeValue[] } }

interface Attribute {
  key: string
  value: AttributeValue
}

/** The body of an OTLP/HTTP export in JSON: a span for each generation. Pure: a repetition sends the same ids. */
export function toOtlpBody(generations: readonly Generation[], version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: attributesOf({ 'service.name': 'headrace', 'service.version': version }),
          droppedAttributesCount: 0,
        },
        scopeSpans: [
          {
            scope: { name: 'headrace', version },
            spans: generations.map((generation) => toSpan(generation)),
          },
        ],
      },
    ],
  })
}

function toSpan(generation: Generation): Record<string, unknown> {
  const { trace = {} } = generation
  const parent = hexOf(trace['parent_span_id'], 16)
  const isFailed = generation.status === 'failed' || generation.finish_reason === 'error'
  return {
    traceId: traceIdOf(generation),
    spanId: hashOf(generation.id, 16),
    ...(parent === null ? {} : { parentSpanId: parent }),
    name: spanNameOf(generation),
    kind: clientKind,
    startTimeUnixNano: toNanoseconds(generation.started_at_ms),
    endTimeUnixNano: toNanoseconds(generation.ended_at_ms),
    attributes: attributesOf(factsOf(generation)),
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    status: { code: isFailed ? errorCode : okCode },
    links: [],
    droppedLinksCount: 0,
  }
}

/**
 * The trace that the caller named. An id of W3C's form is taken as it is, so that the span joins the caller's own spans;
 * any other text stands for the same trace of its organization every time. Without one, a generation is a trace alone.
 */
function traceIdOf({ id, organization_id, trace = {} }: Generation): string {
  const named = trace['trace_id']
  if (typeof named !== 'string' || named === '') return hashOf(`trace of ${id}`, 32)
  return hexOf(named, 32) ?? hashOf(`${organization_id} ${named}`, 32)
}

/** An id of that many hexadecimal digits, hyphens apart; null for anything else, and for zeros, which name nothing. */
function hexOf(value: unknown, digits: number): string | null {
  if (typeof value !== 'string') return null
  const text = value.replaceAll('-', '').toLowerCase()
  if (text.length !== digits || !/^[0-9a-f]+$/.test(text) || /^0+$/.test(text)) return null
  return text
}

function hashOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

function spanNameOf({ operation, model, trace = {} }: Generation): string {
  for (const name of ['generation_name', 'span_name']) {
    const given = trace[name]
    if (typeof given === 'string' && given !== '') return given
  }
  return `${operationNames[operation] ?? operation} ${model}`
}

function toNanoseconds(milliseconds: number): string {
  return `${BigInt(Math.round(milliseconds)) * 1_000_000n}`
}

type Facts = Record<string, unknown>

/** The attributes of a span; what is undefined or null is left out. */
function factsOf(generation: Generation): Facts {
  const { usage, trace = {}, latency } = generation
  const isFailed = generation.status === 'failed' || generation.finish_reason === 'error'
  return {
    'gen_ai.operation.name': operationNames[generation.operation] ?? generation.operation,
    'gen_ai.provider.name': generation.provider,
    'gen_ai.request.model': generation.requested_model,
    'gen_ai.request.stream': generation.streamed,
    'gen_ai.response.id': generation.id,
    'gen_ai.response.model': generation.model,
    'gen_ai.response.finish_reasons': generation.finish_reason === null ? null : [generation.finish_reason],
    'gen_ai.response.time_to_first_chunk': latency === null ? null : latency / 1_000,
    'gen_ai.usage.input_tokens': usage['input_tokens'] ?? 0,
    'gen_ai.usage.output_tokens': usage['output_tokens'] ?? 0,
    'gen_ai.usage.cache_read.input_tokens': usage['cached_input_tokens'],
    'gen_ai.usage.cache_creation.input_tokens': usage['cache_write_tokens'],
    'gen_ai.usage.reasoning.output_tokens': usage['reasoning_tokens'],
    'gen_ai.usage.cost': generation.cost === null ? null : asDouble(generation.cost),
    'gen_ai.conversation.id': generation.session_id,
    'session.id': generation.session_id,
    'user.id': generation.user,
    'error.type': isFailed ? '_OTHER' : null,
    'headrace.status': generation.status,
    'headrace.organization.id': generation.organization_id,
    'headrace.api_key.id': generation.api_key_id,
    'headrace.endpoint': generation.endpoint,
    'headrace.operation': generation.operation,
    'headrace.request.id': generation.request_id,
    'headrace.upstream.id': generation.upstream_id,
    'headrace.batch.id': generation.batch_id,
    'headrace.batch.custom_id': generation.custom_id,
    'headrace.native_finish_reason': generation.native_finish_reason,
    'headrace.attempts': generation.attempts,
    'headrace.service_tier': generation.service_tier,
    'headrace.cost_nanocredits': generation.cost_nanocredits,
    'headrace.is_estimated': generation.is_estimated,
    'headrace.zdr': generation.zdr,
    'headrace.app.title': generation.app_title,
    'headrace.app.referer': generation.http_referer,
    ...otherCountsOf(usage),
    'trace.name': trace['trace_name'],
    ...otherTraceOf(trace),
  }
}

/** Counts that the conventions have no name for, under the names of the ledger. */
function otherCountsOf(usage: Readonly<Record<string, number>>): Facts {
  const named = new Set([
    'input_tokens',
    'output_tokens',
    'cached_input_tokens',
    'cache_write_tokens',
    'reasoning_tokens',
  ])
  const others = Object.entries(usage).filter(([name]) => !named.has(name))
  return Object.fromEntries(others.map(([name, count]) => [`headrace.usage.${name}`, count]))
}

/** The contract's `trace.metadata.*`. An id that became another one, or no id at all, is kept there as it was written. */
function otherTraceOf(trace: Readonly<Record<string, unknown>>): Facts {
  const facts: Facts = {}
  for (const [name, value] of Object.entries(trace))
    if (!ownTraceMembers.has(name)) facts[`trace.metadata.${name}`] = value
  for (const [name, digits] of [
    ['trace_id', 32],
    ['parent_span_id', 16],
  ] as const)
    if (trace[name] !== undefined && hexOf(trace[name], digits) === null)
      facts[`trace.metadata.${name}`] = trace[name]
  return facts
}

/** A number that is not whole in every span, and must not be a whole number in one of them. */
class Double {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

function asDouble(value: number): Double {
  return new Double(value)
}

function attributesOf(facts: Facts): Attribute[] {
  const attributes: Attribute[] = []
  for (const [key, fact] of Object.entries(facts)) {
    const value = valueOf(fact)
    if (value !== null) attributes.push({ key, value })
  }
  return attributes
}

function valueOf(fact: unknown): AttributeValue | null {
  if (typeof fact === 'string') return { stringValue: fact }
  if (typeof fact === 'boolean') return { boolValue: fact }
  if (fact instanceof Double) return { doubleValue: fact.value }
  if (Number.isSafeInteger(fact)) return { intValue: Number(fact) }
  if (Number.isFinite(fact)) return { doubleValue: Number(fact) }
  if (Array.isArray(fact)) return { arrayValue: { values: fact.flatMap((each) => valueOf(each) ?? []) } }
  return null
}
