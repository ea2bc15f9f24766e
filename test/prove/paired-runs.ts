import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../../bench/harness/figures.ts'
import { beside, type Starter } from '../../bench/harness/beside.ts'
import { comparePairs, type Compared } from '../../bench/harness/pairs.ts'
import { combine, notRun, type ProofResult } from './proof.ts'

/** What is compared, what it is called in the figure, and the most that the ratio may be. */
export interface Comparison extends Compared {
  what: string
  names: readonly [string, string]
  ratioMax: number
}

/** Runs what `plan` compares, one after the other, each as the median of ten interleaved pairs in this run. */
export async function runPairs(
  plan: (start: Starter) => Promise<readonly Comparison[]>,
): Promise<ProofResult> {
  const missing = ['nginx', 'wrk'].filter((name) => Bun.which(name) === null)
  if (missing.length > 0) return notRun(`not installed: ${missing.join(', ')}`)
  const folder = mkdtempSync(join(tmpdir(), 'headrace-pairs-'))
  try {
    return await beside(folder, async (start) => {
      const results: ProofResult[] = []
      for (const comparison of await plan(start)) results.push(await compare(comparison, folder))
      return combine(results)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(
  { what, names, first, second, ratioMax }: Comparison,
  folder: string,
): Promise<ProofResult> {
  const figures = await comparePairs({ first, second }, folder)
  const { ratio, ratios, noise } = figures
  const spread = `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`
  const allowed = Math.max(ratioMax, ...noise)
  const verdict = ratio <= allowed ? 'within' : 'OVER'
  const noted =
    noise.length === 0
      ? ''
      : `; two of the first ${median(noise).toFixed(3)} (${Math.min(...noise).toFixed(3)} to ${Math.max(...noise).toFixed(3)})`
  const costs = [figures.firstMicroseconds, figures.secondMicroseconds]
  const medians = names.map((name, index) => `${name} ${costs[index]?.toFixed(1)}`)
  const figure = `${what}: ${ratio.toFixed(3)} (${spread}), ${verdict} ${ratioMax}; median µs ${medians.join(', ')}${noted}`
  return { status: ratio <= allowed ? 'PASS' : 'FAIL', figures: [figure] }
}
