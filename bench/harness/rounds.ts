import { median } from './figures.ts'
import type { Target } from './target.ts'
import { runWrk } from './wrk.ts'

/** What one round of load on a target showed, or the medians of several. */
export interface Saturated {
  cpuMicroseconds: number
  requestsPerSecond: number
  p50Ms: number
  requests: number
  failures: number
  /** Of the program's largest process, at the end of its load. */
  residentBytes: number
}

/** How much load each target gets. */
export interface Load {
  folder: string
  rounds: number
  seconds: number
  warmSeconds: number
  /** Callers at once, of a target that does not say otherwise. */
  connections: number
}

/** Runs targets one after the other, round after round, so that what disturbs the machine disturbs all of them alike. */
export async function loadInRounds(
  targets: readonly Target[],
  load: Load,
): Promise<Map<string, readonly Saturated[]>> {
  const samples = new Map<string, Saturated[]>(targets.map(({ name }) => [name, []]))
  // Compilers work in the background for the first ten thousand calls; what they cost then is not what a call costs.
  for (const target of targets)
    await runWrk(target, { ...load, connections: callersOf(target, load), seconds: load.warmSeconds })
  for (let round = 0; round < load.rounds; round += 1) {
    for (const target of targets) samples.get(target.name)?.push(await measure(target, load))
  }
  return samples
}

/** The medians of `loadInRounds`. */
export async function interleave(targets: readonly Target[], load: Load): Promise<Map<string, Saturated>> {
  const samples = await loadInRounds(targets, load)
  return new Map([...samples].map(([name, rounds]) => [name, medians(rounds)]))
}

async function measure(target: Target, load: Load): Promise<Saturated> {
  const before = target.process.cpuMs()
  const result = await runWrk(target, { ...load, connections: callersOf(target, load) })
  const residentBytes = target.process.largestBytes()
  // What a gateway puts off until the load is gone, such as its last group of captures, is part of its cost.
  await Bun.sleep(100)
  const cpuMs = target.process.cpuMs() - before
  return {
    cpuMicroseconds: (cpuMs * 1000) / Math.max(1, result.requests),
    requestsPerSecond: (result.requests * 1000) / result.durationMs,
    p50Ms: result.p50Ms,
    requests: result.requests,
    failures: result.failures,
    residentBytes,
  }
}

function callersOf({ callers }: Target, { connections }: Load): number {
  return Math.min(callers ?? connections, connections)
}

function medians(rounds: readonly Saturated[]): Saturated {
  const of = (pick: (round: Saturated) => number) => median(rounds.map(pick))
  const total = (pick: (round: Saturated) => number) => rounds.reduce((sum, round) => sum + pick(round), 0)
  return {
    cpuMicroseconds: of((round) => round.cpuMicroseconds),
    requestsPerSecond: of((round) => round.requestsPerSecond),
    p50Ms: of((round) => round.p50Ms),
    requests: total((round) => round.requests),
    failures: total((round) => round.failures),
    residentBytes: of((round) => round.residentBytes),
  }
}
