import { percentile } from './figures.ts'
import { runProgram } from './program.ts'
import type { Target } from './target.ts'

/** What the load program `open-loop.ts` prints. */
export interface Latencies {
  sent: number
  failures: number
  firstMs: number[]
  lastMs: number[]
}

/** One round's percentiles in milliseconds. */
export interface LatencyRound {
  failures: number
  first50: number
  first99: number
  last50: number
  last99: number
}

/** Asks a target so often a second, whatever becomes of the earlier calls. Without an answer the times are not a number. */
export async function callSteadily(
  { port, path, headers, body }: Target,
  { rate, seconds }: { rate: number; seconds: number },
): Promise<LatencyRound> {
  const options = { port, path, headers, body, rate, seconds }
  const { failures, firstMs, lastMs } = await runProgram<Latencies>('open-loop.ts', options)
  return {
    failures,
    first50: shareOf(firstMs, 0.5),
    first99: shareOf(firstMs, 0.99),
    last50: shareOf(lastMs, 0.5),
    last99: shareOf(lastMs, 0.99),
  }
}

function shareOf(times: readonly number[], share: number): number {
  return times.length === 0 ? Number.NaN : percentile(times, share)
}
