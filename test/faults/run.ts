/**
 * Proof 4.6: the table of faults, with the bounds of waits shortened. Prints figures; exits with 1 when a caller or the
 * ledger got something else than the table has.
 */
import { shortenWaits } from './short-waits.ts'

const shownProblemsMax = 60

shortenWaits()
const { runTable } = await import('./run-table.ts')
const { figures, problems } = await runTable()
for (const figure of figures) console.log(figure)
for (const problem of problems.slice(0, shownProblemsMax)) console.log(`WRONG: ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
