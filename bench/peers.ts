import { join } from 'node:path'
import { judge } from './comparison/budgets.ts'
import { sectionOf, writeSection } from './comparison/page.ts'
import { compareAll, parts, quickComparison, wholeComparison } from './comparison/run.ts'
import { referenceCommit } from './harness/reference.ts'

const page = join(import.meta.dir, '../docs/benchmarks.md')

/**
 * `npm run bench -- peers [--write] [--quick] [--only PART,PART]`: this version beside the durable floor, an earlier
 * version and other gateways, in one run. With `--write` its tables replace those of `docs/benchmarks.md`.
 */
export async function runPeers(options: {
  output: string
  only: string | undefined
  isQuick: boolean
  isWritten: boolean
}): Promise<number> {
  const only = options.only?.split(',')
  const unknown = only?.find((name) => !(name in parts))
  if (unknown !== undefined) {
    console.error(`There is no part "${unknown}"; the parts are ${Object.keys(parts).join(', ')}.`)
    return 2
  }
  if (options.isWritten && (options.isQuick || only !== undefined)) {
    console.error('Only figures of a whole run are written; leave out --quick and --only.')
    return 2
  }
  const comparison = await compareAll({
    output: options.output,
    beforeCommit: referenceCommit().commit,
    scale: options.isQuick ? quickComparison : wholeComparison,
    ...(only === undefined ? {} : { only }),
  })
  const judged = judge(comparison)
  const section = sectionOf(comparison, judged)
  console.log(section)
  if (options.isWritten) writeSection(page, section)
  return comparison.checks.every(({ isGood }) => isGood) ? 0 : 1
}
