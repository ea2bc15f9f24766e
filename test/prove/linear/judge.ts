import type { ProofResult } from '../proof.ts'
import type { Case } from './campaign.ts'

const few = 10_000
const many = 40_000
/** Four times as many cost at most so many times as much. */
const ratioMax = 6
/** Beyond one parse and one stringify of the same bytes. */
const turnMsMax = 50
/** Less is no work of which a part could be told. */
const noticedMs = 80
/** A case that is beyond a bound is run again: garbage of the one before and other programs cost, too. */
const runsMax = 8

interface Cost {
  allMs: number
  turnMs: number
  floorMs: number
}

const sum = (turns: readonly number[]): number => turns.reduce((all, each) => all + each, 0)

function least(before: Cost | null, turns: readonly number[], floorMs: number): Cost {
  const [allMs, turnMs] = [sum(turns), Math.max(0, ...turns)]
  return {
    allMs: Math.min(before?.allMs ?? Infinity, allMs),
    turnMs: Math.min(before?.turnMs ?? Infinity, turnMs),
    floorMs,
  }
}

/** Runs every case with 10,000 and 40,000 of what it has many of. */
export function judge(what: string, cases: readonly Case[]): ProofResult {
  const failures: string[] = []
  let worst = { name: '', ratio: 0 }
  let longest = { name: '', turnMs: 0 }
  for (const { name, workOf } of cases) {
    const [small, large] = [workOf(few), workOf(many)]
    let cheap: Cost | null = null
    let dear: Cost | null = null
    let problem = 'was not run'
    let figures = { ratio: 0, turnMs: 0 }
    for (let run = 0; run < runsMax && problem !== ''; run += 1) {
      if (run > 0) Bun.gc(true)
      cheap = least(cheap, small.run(), small.floorMs)
      dear = least(dear, large.run(), large.floorMs)
      figures = { ratio: ratioOf(cheap, dear), turnMs: dear.turnMs - dear.floorMs }
      problem = problemOf(figures, dear)
    }
    if (problem !== '') failures.push(`${name}: ${problem}`)
    console.error(`${name}: ${figures.ratio.toFixed(1)} ${figures.turnMs.toFixed(0)} ${problem}`)
    if (figures.ratio > worst.ratio) worst = { name, ratio: figures.ratio }
    if (figures.turnMs > longest.turnMs) longest = { name, turnMs: figures.turnMs }
  }
  const figure = `${what}: ${cases.length} cases; 4 times as many cost at most ${worst.ratio.toFixed(1)} times as much (${worst.name}); the longest turn is ${longest.turnMs.toFixed(0)} ms beyond a parse and a stringify (${longest.name})`
  return { status: failures.length === 0 ? 'PASS' : 'FAIL', figures: [figure, ...failures] }
}

function ratioOf(cheap: Cost, dear: Cost): number {
  return dear.allMs < noticedMs ? 0 : dear.allMs / Math.max(cheap.allMs, noticedMs / 8)
}

function problemOf({ ratio, turnMs }: { ratio: number; turnMs: number }, dear: Cost): string {
  if (ratio > ratioMax)
    return `4 times as many cost ${ratio.toFixed(1)} times as much (${dear.allMs.toFixed(0)} ms)`
  return turnMs > turnMsMax ? `a turn of ${turnMs.toFixed(0)} ms beyond a parse and a stringify` : ''
}
