import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { judge } from '../../../bench/comparison/budgets.ts'
import { sectionOf } from '../../../bench/comparison/page.ts'
import { compareAll, wholeComparison } from '../../../bench/comparison/run.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { versionOfSecondAttack } from '../earlier-versions.ts'
import { notRun, type ProofOfRows, type ProofRow } from '../proof.ts'

const id = 'speed/budgets'
/** Other gateways are installed here once; the same folder as that of `npm run bench -- peers`. */
const output = join(rootFolder, '.bench')

export const proof: ProofOfRows = {
  async rows() {
    const missing = ['nginx', 'wrk'].filter((name) => Bun.which(name) === null)
    if (missing.length > 0 || process.platform !== 'linux') {
      const reason =
        missing.length > 0
          ? `not installed: ${missing.join(', ')}`
          : 'processes are read from /proc, on Linux'
      return [{ id, title: 'speed and memory beside their budgets', ...notRun(reason) }]
    }
    mkdirSync(output, { recursive: true })
    const comparison = await compareAll({
      output,
      beforeCommit: versionOfSecondAttack,
      scale: wholeComparison,
    })
    const judged = judge(comparison)
    // The figures of all programs go with the first row; the others have their own.
    const table = sectionOf(comparison, judged)
      .split('\n')
      .filter((line) => line !== '')
    return judged.map(({ what, figure, budget, stretch, verdict }, index): ProofRow => ({
      id: `${id}/${nameOf(`${what} ${budget}`)}`,
      title: budget === '' ? what : `${what}: ${budget}`,
      status: verdict,
      figures: [stretch === '' ? figure : `${figure}; beyond it ${stretch}`, ...(index === 0 ? table : [])],
    }))
  },
}

function nameOf(words: string): string {
  return words
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}
