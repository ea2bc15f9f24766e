import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Answer, at, startTestGateway, until } from '../support/gateway.ts'

// Sections 2.1, 2.2, 2.3 and 3: the batch as its creation, its polls and its end show it.

const gateway = await startTestGateway()
let created: Answer
let ended: Answer
afterAll(() => gateway.stop())

const statuses = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
]
const say = (text: string) => ({ messages: [{ role: 'user', content: text }] })
const seenStatuses = new Set<string>()

beforeAll(async () => {
  await gateway.admin('faults', [
    { match: { body_contains: 'too long for anybody' }, fault: 'context_length' },
    { match: { body_contains: 'think and cache' }, fault: 'cached_tokens=2,reasoning_tokens=3' },
  ])
  created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    requests: [
      { custom_id: 'first', body: say('think and cache') },
      { custom_id: 'second', body: say('good evening') },
      { custom_id: 'wrong shape', body: { messages: 'none' } },
      { custom_id: 'too long', body: say('too long for anybody') },
    ],
  })
  ended = await until(
    async () => {
      const answer = await gateway.get(`/batches/${String(created.json['id'])}`)
      seenStatuses.add(String(answer.json['status']))
      return answer
    },
    (answer) => answer.json['status'] === 'completed',
  )
})

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value)
const results = () => at(ended.json, 'results') as Record<string, unknown>[]
const resultOf = (customId: string) => results().find((result) => result['custom_id'] === customId)

test('2.1.r1 id is a string that names the batch from its creation to its end', async () => {
  expect(typeof created.json['id']).toBe('string')
  expect(String(created.json['id']).length).toBeGreaterThan(0)
  expect(ended.json['id']).toBe(created.json['id'])
})

test('2.1.r2 object is always "batch"', () => {
  expect([created.json['object'], ended.json['object']]).toEqual(['batch', 'batch'])
})

test('2.1.r3 endpoint is the inference endpoint the batch runs against', () => {
  expect([created.json['endpoint'], ended.json['endpoint']]).toEqual([
    '/v1/chat/completions',
    '/v1/chat/completions',
  ])
})

test('2.1.r4 model is the model identifier of the batch', () => {
  expect([created.json['model'], ended.json['model']]).toEqual(['openai/gpt-4o-mini', 'openai/gpt-4o-mini'])
})

test('2.1.r5 completion_window is "24h"', () => {
  expect([created.json['completion_window'], ended.json['completion_window']]).toEqual(['24h', '24h'])
})

test('2.1.r6 status is one of the eight values', () => {
  for (const status of seenStatuses) expect(statuses).toContain(status)
})

test('2.1.r7 created_at is a whole number, the Unix second of creation', () => {
  const createdAt = Number(created.json['created_at'])
  expect(isWhole(createdAt)).toBe(true)
  expect(Math.abs(Date.now() / 1000 - createdAt)).toBeLessThan(120)
  expect(ended.json['created_at']).toBe(createdAt)
})

test('2.1.r8 finalized_at is null until the batch is finalized, then a whole number', () => {
  expect(created.json['finalized_at']).toBeNull()
  expect(isWhole(ended.json['finalized_at'])).toBe(true)
  expect(Number(ended.json['finalized_at'])).toBeGreaterThanOrEqual(Number(created.json['created_at']))
})

test('2.1.r9 request_counts has total, completed and failed as whole numbers', () => {
  expect(created.json['request_counts']).toEqual({ total: 4, completed: 0, failed: 0 })
  expect(ended.json['request_counts']).toEqual({ total: 4, completed: 2, failed: 2 })
})

test('2.1.r10 usage is null at first and an object at the end', () => {
  expect(created.json['usage']).toBeNull()
  expect(typeof at(ended.json, 'usage.total_tokens')).toBe('number')
})

test('2.1.r11 results is null at first and an array with one entry for each request at the end', () => {
  expect(created.json['results']).toBeNull()
  expect(results().map((result) => result['custom_id'])).toEqual([
    'first',
    'second',
    'wrong shape',
    'too long',
  ])
})

test('2.1.r12 error is null while nothing is wrong', () => {
  expect([created.json['error'], ended.json['error']]).toEqual([null, null])
})

test('2.1.s1 status is "validating" on creation', () => {
  expect(created.json['status']).toBe('validating')
})

test('2.2.r1 usage.prompt_tokens is the whole number of tokens read by the answered requests', () => {
  const counts = ['first', 'second'].map((id) => at(resultOf(id), 'response.body.usage.prompt_tokens'))
  expect(at(ended.json, 'usage.prompt_tokens')).toBe(Number(counts[0]) + Number(counts[1]))
})

test('2.2.r2 usage.completion_tokens is the whole number of tokens generated', () => {
  const counts = ['first', 'second'].map((id) => at(resultOf(id), 'response.body.usage.completion_tokens'))
  expect(at(ended.json, 'usage.completion_tokens')).toBe(Number(counts[0]) + Number(counts[1]))
  expect(Number(counts[0])).toBeGreaterThan(0)
})

test('2.2.r3 usage.total_tokens is the sum of the two', () => {
  expect(at(ended.json, 'usage.total_tokens')).toBe(
    Number(at(ended.json, 'usage.prompt_tokens')) + Number(at(ended.json, 'usage.completion_tokens')),
  )
})

const wholeOrNull = (value: unknown): boolean => value === null || isWhole(value)

test('2.2.r4 usage.completion_tokens_details has whole numbers or nulls, reasoning tokens among them', () => {
  const details = at(ended.json, 'usage.completion_tokens_details') as Record<string, unknown>
  expect(details['reasoning_tokens']).toBe(3)
  expect(Object.values(details).every(wholeOrNull)).toBe(true)
})

test('2.2.r5 usage.prompt_tokens_details has whole numbers or nulls, cached tokens among them', () => {
  const details = at(ended.json, 'usage.prompt_tokens_details') as Record<string, unknown>
  expect(details['cached_tokens']).toBe(2)
  expect(Object.values(details).every(wholeOrNull)).toBe(true)
  expect(details).not.toHaveProperty('cache_write_tokens')
})

test('2.2.r6 usage.server_tool_use is absent, null or whole numbers', () => {
  const use = at(ended.json, 'usage.server_tool_use') ?? null
  if (use !== null) expect(Object.values(use).every(wholeOrNull)).toBe(true)
  else expect(use).toBeNull()
})

test('2.2.r7 usage.cost is the number of credits the batch cost, the sum of its items', async () => {
  const cost = at(ended.json, 'usage.cost')
  expect(typeof cost).toBe('number')
  const ids = ['first', 'second'].map((id) => String(at(resultOf(id), 'response.body.id')))
  const generations = await Promise.all(ids.map((id) => gateway.get(`/generation?id=${id}`)))
  const sum = generations.reduce((total, { json }) => total + Number(at(json, 'data.total_cost')), 0)
  expect(Number(cost)).toBeGreaterThan(0)
  expect(Number(cost)).toBeCloseTo(sum, 9)
})

test('2.2.r8 usage.cost_details is an object, the sum of what its items show', () => {
  const details = at(ended.json, 'usage.cost_details') as Record<string, number>
  for (const name of [
    'upstream_inference_cost',
    'upstream_inference_prompt_cost',
    'upstream_inference_completions_cost',
  ]) {
    const [first, second] = ['first', 'second'].map((id) =>
      at(resultOf(id), `response.body.usage.cost_details.${name}`),
    )
    expect(Number(first)).toBeGreaterThan(0)
    expect(details[name]).toBeCloseTo(Number(first) + Number(second), 12)
  }
})

test('2.2.r9 usage.is_byok is false without a key of the customer', () => {
  expect(at(ended.json, 'usage.is_byok')).toBe(false)
})

test('2.2.r10 usage.service_tier is the tier that the provider used, when all answers had one', async () => {
  const tiers = results().flatMap((result) => at(result, 'response.body.service_tier') ?? [])
  expect(tiers).toEqual(['default', 'default'])
  expect(at(ended.json, 'usage.service_tier')).toBe('default')
  const generation = await gateway.get(`/generation?id=${String(at(resultOf('first'), 'response.body.id'))}`)
  expect(at(generation.json, 'data.service_tier')).toBe('default')
})

test('2.2.r11 usage.cache_creation is an object when it is there', () => {
  expect(['object', 'undefined']).toContain(typeof (at(ended.json, 'usage.cache_creation') ?? undefined))
})

test('2.2.r12 usage.iterations is an array or null when it is there', () => {
  const iterations = at(ended.json, 'usage.iterations') ?? null
  expect(iterations === null || Array.isArray(iterations)).toBe(true)
})

test('2.2.r13 usage.speed may be absent', () => {
  expect(['string', 'undefined']).toContain(typeof (at(ended.json, 'usage.speed') ?? undefined))
})

test('2.3.r1 every result has an id of its own', () => {
  const ids = results().map((result) => result['id'])
  expect(ids.every((id) => typeof id === 'string' && id !== '')).toBe(true)
  expect(new Set(ids).size).toBe(4)
})

test('2.3.r2 custom_id is the caller’s, unchanged', () => {
  expect(results().map((result) => result['custom_id'])).toContain('wrong shape')
})

test('2.3.r3 response has status_code, request_id and body, or is null', () => {
  const response = at(resultOf('first'), 'response') as Record<string, unknown>
  expect(response['status_code']).toBe(200)
  expect(response['request_id'] === null || typeof response['request_id'] === 'string').toBe(true)
  expect(at(response, 'body.object')).toBe('chat.completion')
  expect(at(resultOf('wrong shape'), 'response')).toBeNull()
})

test('2.3.r4 error has type, message and param, or is null', () => {
  const error = at(resultOf('wrong shape'), 'error') as Record<string, unknown>
  expect(typeof error['type']).toBe('string')
  expect(String(error['message'])).toContain('messages')
  expect(error['param'] === null || typeof error['param'] === 'string').toBe(true)
  expect(at(resultOf('first'), 'error')).toBeNull()
})

test('2.3.r5 every result has id, custom_id, response and error, and exactly one of the last two is set', () => {
  for (const result of results()) {
    expect(Object.keys(result).toSorted()).toEqual(['custom_id', 'error', 'id', 'response'])
    expect((result['response'] === null) !== (result['error'] === null)).toBe(true)
  }
})

test('2.3.r6 error_type is canonical: a prompt that is too long is context_length_exceeded', () => {
  expect(at(resultOf('too long'), 'error.error_type')).toBe('context_length_exceeded')
  expect(at(resultOf('wrong shape'), 'error.error_type')).toBe('invalid_request')
})

test('3.s1 a status is one of eight, and a batch goes through them in order', () => {
  const ranks = [...seenStatuses].map((status) =>
    ['validating', 'in_progress', 'finalizing', 'completed'].indexOf(status),
  )
  expect(ranks).not.toContain(-1)
  expect(ranks).toEqual(ranks.toSorted((left, right) => left - right))
  expect(ranks.at(-1)).toBe(3)
})
