import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shortCommit } from './checkout.ts'
import { referenceCommit } from './reference.ts'

/** What every whole run of `npm run bench -- pairs` found, a line each. */
export const historyFile = join(import.meta.dir, '../history.jsonl')

/** A line of the history, as far as it is read here. */
interface Pairs {
  commit: string
  against: string
  ratios: Readonly<Record<string, number>>
}

/** The last ratios of CPU to the last release, or to the recorded commit where there is no release, for people. */
export function lastRatios(): string {
  const { name, commit } = referenceCommit()
  const against = shortCommit(commit)
  const lines = existsSync(historyFile) ? readFileSync(historyFile, 'utf8').trim().split('\n') : []
  const last = lines
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Pairs)
    .findLast((entry) => entry.against === against)
  if (last === undefined)
    return `CPU beside ${name}: not measured yet; "npm run bench -- pairs" does it in half an hour`
  const shown = Object.entries(last.ratios).map(([row, ratio]) => `${row} ${ratio.toFixed(2)}`)
  return `CPU of ${last.commit} to ${name} (${last.against}): ${shown.join(', ')}`
}
