import { median } from './figures.ts'
import type { Target } from './target.ts'
import { runWrk } from './wrk.ts'

/** Runs of each version that are compared, over all its processes. */
const pairs = 10
/** Rounds of several processes are at least so many. */
const roundsMin = 4
const secondsPerRun = 2
/** Calls until the runtime has compiled a call for good (`docs/adr/0017`), and the longest time that they may take. */
const warmCalls = 110_000
const warmSecondsMax = 90
const secondsPerWarming = 6
const connections = 64
/** How long a run's end is waited for: its captures, and its rows of the log of calls, which gather for half a second. */
const settledMs = 800

/**
 * Two versions whose CPU is compared: what a call of the second costs of one of the first. Each may be several processes,
 * because two processes of one version differ by up to an eighth for as long as they run.
 */
export interface Compared {
  first: readonly Target[]
  second: readonly Target[]
}

/** What the interleaved rounds showed; costs are medians in microseconds of CPU a request. */
export interface PairFigures {
  ratio: number
  ratios: readonly number[]
  /** Of each further process of the first version to its first: what the machine does to any comparison. */
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

/** Loads all in turn, so that what disturbs the machine disturbs all. Throws when one answers nothing. */
export async function comparePairs({ first, second }: Compared, folder: string): Promise<PairFigures> {
  const turns = inTurn(first, second)
  for (const target of turns) await warm(target, folder)
  const noise: number[] = []
  const ratios: number[] = []
  const costs: [number[], number[]] = [[], []]
  const rounds = Math.max(roundsMin, Math.ceil(pairs / Math.min(first.length, second.length)))
  for (let round = 0; round < rounds; round += 1) {
    const found = new Map<Target, number>()
    for (const target of round % 2 === 0 ? turns : turns.toReversed())
      found.set(target, await costOf(target, folder))
    const earlier = first.map((target) => found.get(target) ?? 0)
    const later = second.map((target) => found.get(target) ?? 0)
    const [start = 0, ...others] = earlier
    costs[0].push(mean(earlier))
    costs[1].push(mean(later))
    ratios.push(mean(later) / mean(earlier))
    noise.push(...others.map((cost) => cost / start))
  }
  return {
    ratio: median(ratios),
    ratios,
    noise,
    firstMicroseconds: median(costs[0]),
    secondMicroseconds: median(costs[1]),
  }
}

/** A process of each version by turns. */
function inTurn(first: readonly Target[], second: readonly Target[]): Target[] {
  const turns: Target[] = []
  for (let index = 0; index < Math.max(first.length, second.length); index += 1)
    turns.push(...[first[index], second[index]].filter((target) => target !== undefined))
  return turns
}

/** Microseconds of CPU a request, in one run. */
async function costOf(target: Target, folder: string): Promise<number> {
  const startMs = target.process.cpuMs()
  const result = await runWrk(target, { folder, connections, seconds: secondsPerRun })
  await Bun.sleep(settledMs)
  if (result.requests === 0) throw new Error(`${target.name} answered nothing`)
  if (result.failures > 0) throw new Error(`${target.name} failed ${result.failures} of ${result.requests}`)
  return ((target.process.cpuMs() - startMs) * 1000) / result.requests
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
