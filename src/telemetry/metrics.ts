import type { Registry } from 'prom-client'
import type { Clock } from '../core/clock.ts'
import { toCredits } from '../core/money.ts'
import type { CallLine, RequestLine } from './call-line.ts'
import {
  createCounters,
  createGauge,
  createHistograms,
  rememberByPair,
  type Counter,
  type Metric,
  type Sample,
} from './series.ts'

/** The metrics of one gateway, in the text format that Prometheus reads. */
export interface Metrics {
  /** Counts a request that has ended, and the call it made. */
  recordRequest(line: RequestLine): void
  /** Counts the call of a batch's item, which has no request of its own. */
  recordCall(call: CallLine): void
  /** A figure computed when the metrics are read. If that throws, the figure is left out and the failure counted. */
  gauge(name: string, help: string, read: () => number | Sample[]): void
  /** A counter of its own, without labels. */
  counter(name: string, help: string): Counter
  render(): Promise<string>
  /** Ends the measuring of the event loop's delay. */
  stop(): void
}

const seconds = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const loopTickMs = 20

/**
 * Labels are few: routes, statuses, configured providers and served models, never callers or free text. The library is
 * loaded here, beside what else a start waits for: loaded at the first look it held up the event loop for 40 ms.
 */
export async function createMetrics({ version, clock }: { version: string; clock: Clock }): Promise<Metrics> {
  const registry = await openRegistry()
  const unreadable = createCounters({
    name: 'headrace_metrics_unreadable_total',
    help: 'Figures that could not be read.',
    labels: [],
  })
  const register = (metric: Metric) => registry.registerMetric(toLibraryMetric(metric, unreadable.of()))
  register(unreadable)
  const calls = createCallMetrics()
  const recordCall = createCallRecorder(calls)
  const recordRequest = createRequestRecorder(calls, recordCall)
  for (const metric of Object.values(calls)) register(metric)
  register(
    createGauge('headrace_build_info', 'The running version.', () => [{ labels: { version }, value: 1 }]),
  )
  const delay = watchLoop(clock)
  register(
    createGauge(
      'headrace_event_loop_block_seconds',
      'Longest block of the event loop since the last look.',
      delay.take,
    ),
  )
  return {
    recordRequest,
    recordCall,
    gauge: (name, help, read) => register(createGauge(name, help, read)),
    counter(name, help) {
      const family = createCounters({ name, help, labels: [] })
      register(family)
      return family.of()
    },
    render: () => registry.metrics(),
    stop: delay.stop,
  }
}

async function openRegistry(): Promise<Registry> {
  const library = await import('prom-client')
  const registry = new library.Registry()
  library.collectDefaultMetrics({ register: registry })
  for (const { name } of registry.getMetricsAsArray())
    if (unmeasured.test(name)) registry.removeSingleMetric(name)
  return registry
}

/**
 * Figures of Node that this runtime fills with zeros, infinities and NaN. The gateway measures the loop's delay itself.
 */
const unmeasured = /^nodejs_(eventloop_lag|active_|heap_space_|gc_)/

function createCallMetrics() {
  return {
    requests: createCounters({
      name: 'headrace_requests_total',
      help: 'Requests that have ended.',
      labels: ['route', 'status'],
    }),
    errors: createCounters({
      name: 'headrace_errors_total',
      help: 'Requests that ended with an error.',
      labels: ['route', 'error_type'],
    }),
    durations: createHistograms({
      name: 'headrace_request_duration_seconds',
      help: 'From the request to the end of its answer.',
      labels: ['route'],
      bounds: seconds,
    }),
    calls: createCounters({
      name: 'headrace_calls_total',
      help: 'Calls that a provider answered, items of batches included.',
      labels: ['operation', 'provider', 'model'],
    }),
    firstBytes: createHistograms({
      name: 'headrace_first_byte_seconds',
      help: 'From the request to the first byte of output.',
      labels: ['provider'],
      bounds: seconds,
    }),
    attempts: createCounters({
      name: 'headrace_attempts_total',
      help: 'Attempts of answered calls, by the provider that answered.',
      labels: ['provider'],
    }),
    tried: createCounters({
      name: 'headrace_deployment_attempts_total',
      help: 'Every attempt at a deployment, failed ones and those of batch items included.',
      labels: ['deployment', 'model', 'outcome', 'error_type'],
    }),
    tokens: createCounters({
      name: 'headrace_tokens_total',
      help: 'Tokens in and out; those of prompts that the provider read from its cache are in and cached.',
      labels: ['provider', 'model', 'direction'],
    }),
    cost: createCounters({
      name: 'headrace_cost_credits_total',
      help: 'What calls cost, in credits.',
      labels: ['provider', 'model'],
    }),
    estimated: createCounters({
      name: 'headrace_usages_estimated_total',
      help: 'Calls whose usage had to be estimated.',
      labels: [],
    }),
    ...createLossMetrics(),
    cancelled: createCounters({
      name: 'headrace_calls_cancelled_total',
      help: 'Calls whose caller left before the end.',
      labels: [],
    }),
  }
}

/** Costs of calls whose providers counted more than could be charged. */
function createLossMetrics() {
  return {
    uncovered: createCounters({
      name: 'headrace_uncovered_calls_total',
      help: 'Calls of which a provider counted more than any balance or limit covered.',
      labels: [],
    }),
    uncoveredCredits: createCounters({
      name: 'headrace_uncovered_credits_total',
      help: 'What of their cost nobody was charged, in credits.',
      labels: [],
    }),
  }
}

type CallMetrics = ReturnType<typeof createCallMetrics>

function createRequestRecorder(
  metrics: CallMetrics,
  recordCall: (call: CallLine) => void,
): (line: RequestLine) => void {
  const ofRoute = rememberByPair((route, status) => ({
    requests: metrics.requests.of(route, status),
    durations: metrics.durations.of(route),
  }))
  return ({ route, status, durationMs, facts }) => {
    const { requests, durations } = ofRoute(route, String(status))
    requests.value += 1
    durations.observe(durationMs / 1000)
    if (facts.errorType !== null) metrics.errors.of(route, facts.errorType).value += 1
    recordCall(facts)
  }
}

/** The error type of an attempt without one. */
const noError = 'none'

/** Counts attempts and answered calls. A series for an optional figure is created when that figure first occurs. */
function createCallRecorder(metrics: CallMetrics): (call: CallLine) => void {
  const ofModel = rememberByPair((provider, model) => ({
    attempts: metrics.attempts.of(provider),
    firstBytes: onceNeeded(() => metrics.firstBytes.of(provider)),
    inputTokens: onceNeeded(() => metrics.tokens.of(provider, model, 'input')),
    cachedTokens: onceNeeded(() => metrics.tokens.of(provider, model, 'cached')),
    outputTokens: onceNeeded(() => metrics.tokens.of(provider, model, 'output')),
    cost: onceNeeded(() => metrics.cost.of(provider, model)),
    /** By operation. */
    calls: new Map<string, Counter>(),
  }))
  const ofAnswered = rememberByPair((deployment, model) =>
    metrics.tried.of(deployment, model, 'answered', noError),
  )
  return (facts) => {
    for (const { deployment, model, outcome, errorType } of facts.tried) {
      const series =
        outcome === 'answered'
          ? ofAnswered(deployment, model)
          : metrics.tried.of(deployment, model, outcome, errorType ?? noError)
      series.value += 1
    }
    const { provider, operation } = facts
    if (provider === null || operation === null) return
    const model = facts.model ?? 'unknown'
    const series = ofModel(provider, model)
    const calls = series.calls.get(operation) ?? metrics.calls.of(operation, provider, model)
    series.calls.set(operation, calls)
    calls.value += 1
    series.attempts.value += facts.attempts
    if (facts.firstByteMs !== null) series.firstBytes().observe(facts.firstByteMs / 1000)
    if (facts.inputTokens > 0) series.inputTokens().value += facts.inputTokens
    if (facts.cachedInputTokens > 0) series.cachedTokens().value += facts.cachedInputTokens
    if (facts.outputTokens > 0) series.outputTokens().value += facts.outputTokens
    if (facts.costNanocredits !== null) series.cost().value += toCredits(facts.costNanocredits)
    if (facts.isEstimated) metrics.estimated.of().value += 1
    if (facts.uncoveredNanocredits > 0n) {
      metrics.uncovered.of().value += 1
      metrics.uncoveredCredits.of().value += toCredits(facts.uncoveredNanocredits)
    }
    if (facts.isCancelled) metrics.cancelled.of().value += 1
  }
}

function onceNeeded<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}

/** The gateway's own series in the shape that the library's registry collects; reading never fails the whole page. */
function toLibraryMetric(metric: Metric, unreadable: Counter) {
  const read = () => {
    try {
      return metric.collect()
    } catch {
      unreadable.value += 1
      return []
    }
  }
  const library = {
    ...metric,
    aggregator: 'sum',
    get: () => Promise.resolve({ ...metric, aggregator: 'sum', values: read() }),
  }
  // The library asks a metric for `get` alone when it renders; its types name the classes of its own metrics.
  return library as unknown as Parameters<Registry['registerMetric']>[0]
}

/** The longest block of the event loop since the last look, in seconds: how late a timer fired at most. */
function watchLoop(clock: Clock) {
  let longestMs = 0
  let expectedMs = clock.monotonicMs() + loopTickMs
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs()
    longestMs = Math.max(longestMs, nowMs - expectedMs)
    expectedMs = nowMs + loopTickMs
  }, loopTickMs)
  timer.unref()
  return {
    take: () => {
      const taken = longestMs
      longestMs = 0
      return taken / 1000
    },
    stop: () => clearInterval(timer),
  }
}
