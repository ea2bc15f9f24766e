import { expect, test } from 'bun:test'
import { systemClock } from '../core/clock.ts'
import type { CallLine } from './call-line.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createCounters, createHistograms, metricSeriesMax } from './series.ts'

const asker = { organizationId: null, keyId: null, clientAddress: '' }
const facts: CallLine = {
  generationId: 'gen-1',
  operation: 'chat_completions',
  model: 'openai/gpt-4o',
  provider: 'OpenAI',
  attempts: 2,
  tried: [],
  inputTokens: 10,
  cachedInputTokens: 4,
  outputTokens: 3,
  costNanocredits: 1_500_000n,
  isEstimated: true,
  isCancelled: false,
  uncoveredNanocredits: 0n,
  firstByteMs: 30,
  errorType: null,
  story: null,
}
const line = { requestId: 'req_1', route: 'chat_completions', status: 200, durationMs: 700, asker, facts }

async function linesOf(metrics: Metrics): Promise<string[]> {
  metrics.stop()
  return (await metrics.render()).split('\n')
}

test('a call is counted with its tokens, its cost and its times', async () => {
  const metrics = await createMetrics({ version: '1.2.3', clock: systemClock })
  metrics.recordRequest(line)
  metrics.recordRequest(line)
  const lines = await linesOf(metrics)
  for (const expected of [
    'headrace_requests_total{route="chat_completions",status="200"} 2',
    'headrace_request_duration_seconds_bucket{route="chat_completions",le="0.5"} 0',
    'headrace_request_duration_seconds_bucket{route="chat_completions",le="1"} 2',
    'headrace_request_duration_seconds_bucket{route="chat_completions",le="+Inf"} 2',
    'headrace_request_duration_seconds_sum{route="chat_completions"} 1.4',
    'headrace_request_duration_seconds_count{route="chat_completions"} 2',
    'headrace_calls_total{operation="chat_completions",provider="OpenAI",model="openai/gpt-4o"} 2',
    'headrace_tokens_total{provider="OpenAI",model="openai/gpt-4o",direction="output"} 6',
    'headrace_cost_credits_total{provider="OpenAI",model="openai/gpt-4o"} 0.003',
    'headrace_attempts_total{provider="OpenAI"} 4',
    'headrace_usages_estimated_total 2',
    'headrace_build_info{version="1.2.3"} 1',
    '# TYPE headrace_request_duration_seconds histogram',
    '# TYPE process_cpu_seconds_total counter',
  ]) {
    expect(lines).toContain(expected)
  }
})

test('a request without a call counts as a request, and an error has its type', async () => {
  const metrics = await createMetrics({ version: '1', clock: systemClock })
  const refused = { ...facts, operation: null, provider: null, errorType: 'authentication' }
  metrics.recordRequest({ ...line, status: 401, facts: refused })
  const lines = await linesOf(metrics)
  expect(lines).toContain('headrace_errors_total{route="chat_completions",error_type="authentication"} 1')
  expect(lines.some((text) => text.startsWith('headrace_calls_total{'))).toBe(false)
})

test('the call of a batch item counts without a request', async () => {
  const metrics = await createMetrics({ version: '1', clock: systemClock })
  metrics.recordCall(facts)
  const lines = await linesOf(metrics)
  expect(lines).toContain('headrace_cost_credits_total{provider="OpenAI",model="openai/gpt-4o"} 0.0015')
  expect(lines.some((text) => text.startsWith('headrace_requests_total{'))).toBe(false)
})

test('figures that the runtime does not measure are not shown', async () => {
  const lines = await linesOf(await createMetrics({ version: '1', clock: systemClock }))
  const values = lines
    .filter((text) => text !== '' && !text.startsWith('#'))
    .map((text) => text.split(' ').at(-1))
  expect(values.length).toBeGreaterThan(10)
  for (const value of values) expect(Number.isFinite(Number(value))).toBe(true)
  for (const name of ['nodejs_eventloop_lag', 'nodejs_active', 'nodejs_heap_space'])
    expect(lines.some((text) => text.startsWith(name))).toBe(false)
})

test('gauges are read when somebody looks, and one that throws hides no other', async () => {
  const metrics = await createMetrics({ version: '1', clock: systemClock })
  let held = 1
  metrics.gauge('headrace_holds', 'Holds.', () => held)
  metrics.gauge('headrace_broken', 'Broken.', () => {
    throw new Error('no')
  })
  metrics.gauge('headrace_batches', 'Batches.', () => [{ labels: { status: 'in_progress' }, value: 4 }])
  const late = metrics.counter('headrace_late_results_total', 'Late results.')
  late.value += 3
  held = 7
  const lines = await linesOf(metrics)
  expect(lines).toContain('headrace_holds 7')
  expect(lines).toContain('headrace_batches{status="in_progress"} 4')
  expect(lines).toContain('headrace_late_results_total 3')
  expect(
    (await linesOf(metrics)).find((text) => text.startsWith('headrace_metrics_unreadable_total ')),
  ).toMatch(/ [12]$/)
})

test('names from outside cannot fill the memory', () => {
  const family = createCounters({ name: 'a', help: 'b', labels: ['model'] })
  for (let i = 0; i < metricSeriesMax + 50; i++) family.of(`m${i}`).value += 1
  const samples = family.collect()
  expect(samples).toHaveLength(metricSeriesMax + 1)
  expect(samples.find(({ labels }) => labels['model'] === 'other')?.value).toBe(50)
})

test('a value on a bound belongs to the bucket of that bound', () => {
  const family = createHistograms({ name: 'h', help: 'h', labels: [], bounds: [1, 2] })
  for (const value of [0, 1, 1.5, 2, 99]) family.of().observe(value)
  expect(family.collect().map(({ labels, value }) => [labels['le'] ?? null, value])).toEqual([
    [1, 2],
    [2, 4],
    ['+Inf', 5],
    [null, 103.5],
    [null, 5],
  ])
})
