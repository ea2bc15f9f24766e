import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../../bench/harness/figures.ts'
import { startBare, type Bare } from '../../bench/harness/bare.ts'
import { startHeadrace, type Headrace, type Upstreams } from '../../bench/harness/headrace.ts'
import { startUpstream } from '../../bench/harness/nginx.ts'
import type { Target } from '../../bench/harness/target.ts'
import { runWrk } from '../../bench/harness/wrk.ts'
import { combine, notRun, type ProofResult } from './proof.ts'

const pairs = 10
const secondsPerRun = 2
const warmSeconds = 8
const connections = 64

/** Two targets whose CPU is compared: what the second costs of what the first does. */
export interface Comparison {
  what: string
  /** What the two are called in the figure. */
  names: readonly [string, string]
  first: Target
  second: Target
  /** The most that the ratio may be. */
  ratioMax: number
  /** Another process of the version of `first`: what this one differs from it by is the machine's noise, and allowed. */
  again?: Target
}

/** Starts what is compared, before the bench's upstream. */
export interface Starter {
  /** A gateway of a checkout, by name. */
  gateway(name: string, root: string): Promise<Headrace>
  /** The proxy that copies both bodies and does nothing else. */
  copy(): Promise<Bare>
}

/** Runs what `plan` compares, one after the other, each as the median of ten interleaved pairs in this run. */
export async function runPairs(
  plan: (start: Starter) => Promise<readonly Comparison[]>,
): Promise<ProofResult> {
  const missing = ['nginx', 'wrk'].filter((name) => Bun.which(name) === null)
  if (missing.length > 0) return notRun(`not installed: ${missing.join(', ')}`)
  const folder = mkdtempSync(join(tmpdir(), 'headrace-pairs-'))
  const stops: (() => Promise<void>)[] = []
  try {
    const upstream = await startUpstream(folder)
    stops.push(() => upstream.process.stop())
    // Nothing is asked of the paced upstream here; its models only stand in the configuration.
    const upstreams: Upstreams = { staticPort: upstream.port, pacedPort: upstream.port }
    const started = <T extends Bare | Headrace>(program: T): T => {
      stops.push(() => program.process.stop())
      return program
    }
    const comparisons = await plan({
      gateway: async (name, root) =>
        started(await startHeadrace({ name, folder, upstreams, isPrepaid: true, root })),
      copy: async () => started(await startBare(folder, upstreams)),
    })
    const results: ProofResult[] = []
    for (const comparison of comparisons) results.push(await compare(comparison, folder))
    return combine(results)
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(
  { what, names, first, second, ratioMax, again }: Comparison,
  folder: string,
): Promise<ProofResult> {
  const cost = async (target: Target, seconds: number): Promise<number> => {
    const startMs = target.process.cpuMs()
    const result = await runWrk(target, { folder, connections, seconds })
    // The last group of captures belongs to the calls.
    await Bun.sleep(100)
    if (result.requests === 0) throw new Error(`${target.name} answered nothing`)
    return ((target.process.cpuMs() - startMs) * 1000) / result.requests
  }
  await cost(first, warmSeconds)
  await cost(second, warmSeconds)
  if (again !== undefined) await cost(again, warmSeconds)
  const noise: number[] = []
  const ratios: number[] = []
  const costs: [number[], number[]] = [[], []]
  for (let pair = 0; pair < pairs; pair += 1) {
    const early = pair % 2 === 0 ? await cost(first, secondsPerRun) : null
    const later = await cost(second, secondsPerRun)
    const earlier = early ?? (await cost(first, secondsPerRun))
    costs[0].push(earlier)
    costs[1].push(later)
    ratios.push(later / earlier)
    if (again !== undefined) noise.push((await cost(again, secondsPerRun)) / earlier)
  }
  const ratio = median(ratios)
  const spread = `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`
  const allowed = Math.max(ratioMax, ...noise)
  const verdict = ratio <= allowed ? 'within' : 'OVER'
  const noted =
    noise.length === 0
      ? ''
      : `; two of the first ${median(noise).toFixed(3)} (${Math.min(...noise).toFixed(3)} to ${Math.max(...noise).toFixed(3)})`
  const medians = names.map((name, index) => `${name} ${median(costs[index === 0 ? 0 : 1]).toFixed(1)}`)
  const figure = `${what}: ${ratio.toFixed(3)} (${spread}), ${verdict} ${ratioMax}; median µs ${medians.join(', ')}${noted}`
  return { status: ratio <= allowed ? 'PASS' : 'FAIL', figures: [figure] }
}
