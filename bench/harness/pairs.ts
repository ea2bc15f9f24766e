import { median } from './figures.ts'
import type { Target } from './target.ts'
import { runWrk } from './wrk.ts'

const pairs = 10
const secondsPerRun = 2
/** Calls until the runtime has compiled a call for good (`docs/adr/0017`), and the longest time that they may take. */
const warmCalls = 110_000
const warmSecondsMax = 90
const secondsPerWarming = 6
const connections = 64
/** How long a run's end is waited for: its captures, and its rows of the log of calls, which gather for half a second. */
const settledMs = 800

/** Two targets whose CPU is compared: what the second costs of what the first does. */
export interface Compared {
  first: Target
  second: Target
  /** Another process of the version of `first`: what this one differs from it by is the machine's noise. */
  again?: Target
}

/** What ten interleaved pairs showed; costs are medians in microseconds of CPU a request. */
export interface PairFigures {
  ratio: number
  ratios: readonly number[]
  /** Of two processes of the same version; empty without `again`. */
  noise: readonly number[]
  firstMicroseconds: number
  secondMicroseconds: number
}

/** Makes calls until the program is as fast as it will be: versions differ in when they compile what runs often. */
async function warm(target: Target, folder: string): Promise<void> {
  const untilMs = performance.now() + warmSecondsMax * 1000
  let calls = 0
  while (calls < warmCalls && performance.now() < untilMs) {
    const { requests } = await runWrk(target, { folder, connections, seconds: secondsPerWarming })
    calls += Math.max(1, requests)
  }
}

/** Loads both in turn, so that what disturbs the machine disturbs both. Throws when one answers nothing. */
export async function comparePairs({ first, second, again }: Compared, folder: string): Promise<PairFigures> {
  const cost = async (target: Target, seconds: number): Promise<number> => {
    const startMs = target.process.cpuMs()
    const result = await runWrk(target, { folder, connections, seconds })
    await Bun.sleep(settledMs)
    if (result.requests === 0) throw new Error(`${target.name} answered nothing`)
    if (result.failures > 0) throw new Error(`${target.name} failed ${result.failures} of ${result.requests}`)
    return ((target.process.cpuMs() - startMs) * 1000) / result.requests
  }
  for (const target of [first, second, again]) if (target !== undefined) await warm(target, folder)
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
  return {
    ratio: median(ratios),
    ratios,
    noise,
    firstMicroseconds: median(costs[0]),
    secondMicroseconds: median(costs[1]),
  }
}
