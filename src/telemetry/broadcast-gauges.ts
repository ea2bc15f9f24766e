import type { Metrics } from './metrics.ts'
import type { Sample } from './series.ts'

/** How one destination of broadcasts fares, as the metrics show it. Counts are of all processes, since its first use. */
export interface BroadcastFigures {
  readonly destination: string
  readonly waiting: number
  readonly oldestAtMs: number | null
  readonly failingSinceMs: number | null
  readonly sent: number
  readonly failed: number
  readonly dropped: number
}

/** Registers the figures of broadcasts; a gateway without destinations has none. */
export function registerBroadcastGauges(
  metrics: Pick<Metrics, 'gauge'>,
  read: () => readonly BroadcastFigures[],
): void {
  const rows: readonly (readonly [string, string, (figures: BroadcastFigures) => number])[] = [
    ['waiting', 'Generations that wait to be told to a destination.', ({ waiting }) => waiting],
    [
      'waiting_since_seconds',
      'Unix time since when the first of them waits; 0 when none does.',
      ({ oldestAtMs }) => (oldestAtMs ?? 0) / 1_000,
    ],
    [
      'failing_since_seconds',
      'Unix time since when a destination takes nothing; 0 when it takes posts.',
      ({ failingSinceMs }) => (failingSinceMs ?? 0) / 1_000,
    ],
    ['sent', 'Generations that a destination has taken.', ({ sent }) => sent],
    [
      'given_up',
      'Generations that a destination did not take within a day, or refused.',
      ({ failed }) => failed,
    ],
    ['dropped', 'Generations that were dropped because too many waited.', ({ dropped }) => dropped],
  ]
  for (const [name, help, value] of rows)
    metrics.gauge(`headrace_broadcasts_${name}`, help, (): Sample[] =>
      read().map((figures) => ({ labels: { destination: figures.destination }, value: value(figures) })),
    )
}
