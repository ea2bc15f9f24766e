/**
 * Proofs 4.6 and 5.4: the table of faults, with the bounds of waits shortened, and with the argument `fallbacks` what a
 * provider of another format does in the place of one that failed. Prints figures; exits with 1 when a caller or the
 * ledger got something else than the table has.
 */
import { shortenWaits } from './short-waits.ts'

const shownProblemsMax = 60

shortenWaits()
const { runFallbacks, runTable } = await import('./run-table.ts')
const { figures, problems } = await (process.argv[2] === 'fallbacks' ? runFallbacks() : runTable())
for (const figure of figures) console.log(figure)
for (const problem of problems.slice(0, shownProblemsMax)) console.log(`WRONG: ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
