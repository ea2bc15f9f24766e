import type { Metrics } from './metrics.ts'
import type { Sample } from './series.ts'

/** The figures of a running gateway, computed when the metrics are read. Counts since the start are marked as such. */
export interface GaugeReaders {
  requestsRunning: () => number
  /** Holds and captures of this process. Credits for the abandoned amount. */
  billing: () => {
    holdsLive: number
    holdsRefused: number
    capturesQueued: number
    captured: number
    deadLetters: number
    lostCalls: number
    lostCredits: number
    abandonedCredits: number
  }
  storageQueue: () => number
  /** Rows of the log of calls that wait, and those that were dropped since the start. */
  requestLog: () => { queued: number; dropped: number }
  batches: () => {
    segmentsRunning: number
    itemsRunning: number
    batchesWaiting: number
    /** Waiting items of all processes, by the type of their error; times in Unix milliseconds. */
    itemsWaiting: readonly { type: string; items: number; sinceMs: number; nextTryMs: number }[]
    lateResults: number
  }
  deployments: () => readonly { deploymentId: string; limit: number }[]
}

type ItemsWaiting = ReturnType<GaugeReaders['batches']>['itemsWaiting'][number]

/** Registers all gauges under their public names. */
export function registerGauges(metrics: Pick<Metrics, 'gauge'>, readers: GaugeReaders): void {
  const { billing, batches } = readers
  const waiting = (read: (of: ItemsWaiting) => number): Sample[] =>
    batches().itemsWaiting.map((of) => ({ labels: { type: of.type }, value: read(of) }))
  const rows: readonly (readonly [name: string, help: string, read: () => number | Sample[]])[] = [
    ['requests_running', 'Requests being answered.', readers.requestsRunning],
    ['holds_live', 'Holds of running calls.', () => billing().holdsLive],
    ['holds_refused', 'Calls refused with 402 since the start.', () => billing().holdsRefused],
    ['captures_queued', 'Captures that are not durable yet.', () => billing().capturesQueued],
    ['captures', 'Captures made durable since the start.', () => billing().captured],
    ['dead_letters', 'Captures that could not be written, since the start.', () => billing().deadLetters],
    [
      'lost_calls',
      'Calls that a provider answered and storage could not record in time, since the start: nobody was charged.',
      () => billing().lostCalls,
    ],
    ['lost_credits', 'What lost calls cost, since the start.', () => billing().lostCredits],
    [
      'abandoned_credits',
      'Held by processes that died: the bound of what nobody was billed.',
      () => billing().abandonedCredits,
    ],
    ['storage_queue', 'Units that wait to be committed.', readers.storageQueue],
    ['request_log_queue', 'Rows of the log of calls that wait.', () => readers.requestLog().queued],
    [
      'request_log_dropped',
      'Rows of the log of calls that were dropped since the start: too many waited, or storage failed.',
      () => readers.requestLog().dropped,
    ],
    ['batch_segments_running', 'Batch segments leased by this process.', () => batches().segmentsRunning],
    ['batch_items_running', 'Batch items running in this process.', () => batches().itemsRunning],
    ['batches_waiting', 'Batches that wait for credits or a limit.', () => batches().batchesWaiting],
    [
      'batch_items_waiting',
      'Batch items that wait, of all processes, by the type of the error that they wait for.',
      () => waiting(({ items }) => items),
    ],
    [
      'batch_items_waiting_since_seconds',
      'Unix time since when the first of them waits.',
      () => waiting(({ sinceMs }) => sinceMs / 1_000),
    ],
    [
      'batch_items_next_try_seconds',
      'Unix time at which the first of them is tried next.',
      () => waiting(({ nextTryMs }) => nextTryMs / 1_000),
    ],
    [
      'batch_late_results',
      'Results that came after their segment was taken over.',
      () => batches().lateResults,
    ],
    [
      'deployment_concurrency',
      'Calls at once that a deployment is believed to take.',
      () =>
        readers
          .deployments()
          .map(({ deploymentId, limit }) => ({ labels: { deployment: deploymentId }, value: limit })),
    ],
  ]
  for (const [name, help, read] of rows) metrics.gauge(`headrace_${name}`, help, read)
}
