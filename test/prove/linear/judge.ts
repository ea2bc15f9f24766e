import type { ProofResult } from '../proof.ts'
import { type Case, sizes, type Work } from './campaign.ts'

const times = sizes.many / sizes.few
/** Four times as many cost at most so many times as much. */
const ratioMax = 6
/** Beyond one parse and one stringify of the same bytes. */
const turnMsMax = 50
/** Less is no work of which a part could be told. */
const noticedMs = 80
/** A case that is beyond a bound is run again: garbage of the one before and other programs cost, too. */
const runsMax = 8

/** What a case costs, and what of it is beyond a bound; empty when nothing is. */
export interface Judgement {
  /** What four times as many cost, in costs of the fewer; 0 when they cost too little to tell. */
  ratio: number
  /** The longest turn, beyond one parse and one stringify where it is longer than a turn may be. */
  turnMs: number
  problem: string
}

const sum = (turns: readonly number[]): number => turns.reduce((all, each) => all + each, 0)

/**
 * Runs a case with 40,000 of what it has many of and, where that costs enough to tell, with 10,000. The fewer are run four
 * times right behind the others, so that both take as long where the work is linear: what a clock and other programs add is
 * then much the same for both. Of several such pairs the least ratio counts: a square is one in each of them.
 */
export function judgeCase({ workOf }: Pick<Case, 'workOf'>): Judgement {
  const large = workOf(sizes.many)
  let small: Work | null = null
  let floorMs: number | null = null
  let [ratio, leastMs, longestMs] = [Infinity, Infinity, Infinity]
  for (let run = 1; ; run += 1) {
    if (run > 1) Bun.gc(true)
    const turns = large.run()
    const largeMs = sum(turns)
    leastMs = Math.min(leastMs, largeMs)
    longestMs = Math.min(longestMs, Math.max(0, ...turns))
    // A turn that is short by itself needs no excuse.
    if (longestMs > turnMsMax) floorMs ??= large.floorMs()
    const turnMs = longestMs - (floorMs ?? 0)
    if (run > 1) Bun.gc(true)
    if (leastMs < noticedMs) ratio = 0
    else ratio = Math.min(ratio, largeMs / meanOf(times, (small ??= workOf(sizes.few))))
    const problem = problemOf({ ratio, turnMs, leastMs })
    if (problem === '' || run === runsMax) return { ratio, turnMs, problem }
  }
}

function meanOf(runs: number, work: Work): number {
  return sum(Array.from({ length: runs }, () => sum(work.run()))) / runs
}

/** Judges every case, and tells of each as soon as it is known. */
export function judge(what: string, cases: readonly Case[]): ProofResult {
  const failures: string[] = []
  let worst = { name: '', ratio: 0 }
  let longest = { name: '', turnMs: 0 }
  for (const each of cases) {
    const { name } = each
    const { ratio, turnMs, problem } = judgeCase(each)
    if (problem !== '') failures.push(`${name}: ${problem}`)
    console.error(`${name}: ${ratio.toFixed(1)} ${turnMs.toFixed(0)} ${problem}`)
    if (ratio > worst.ratio) worst = { name, ratio }
    if (turnMs > longest.turnMs) longest = { name, turnMs }
  }
  const figure = `${what}: ${cases.length} cases; 4 times as many cost at most ${worst.ratio.toFixed(1)} times as much (${worst.name}); the longest turn is at most ${longest.turnMs.toFixed(0)} ms beyond a parse and a stringify (${longest.name})`
  return { status: failures.length === 0 ? 'PASS' : 'FAIL', figures: [figure, ...failures] }
}

function problemOf({ ratio, turnMs, leastMs }: { ratio: number; turnMs: number; leastMs: number }): string {
  if (ratio > ratioMax)
    return `4 times as many cost ${ratio.toFixed(1)} times as much (${leastMs.toFixed(0)} ms)`
  return turnMs > turnMsMax ? `a turn of ${turnMs.toFixed(0)} ms beyond a parse and a stringify` : ''
}
