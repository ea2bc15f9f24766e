import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beside, type Started } from './harness/beside.ts'
import { checkOut, hasChanges, shortCommit } from './harness/checkout.ts'
import { median } from './harness/figures.ts'
import type { Headrace } from './harness/headrace.ts'
import { comparePairs, type PairFigures } from './harness/pairs.ts'
import { historyFile } from './harness/history.ts'
import { referenceCommit } from './harness/reference.ts'
import { machineFacts } from './harness/report.ts'
import { embeddingsTarget, headraceTarget, messagesTarget, type Target } from './harness/target.ts'

/** What is compared with a commit, by name. */
const rows: Readonly<Record<string, (gateway: Headrace) => Target>> = {
  json: (gateway) => headraceTarget(gateway, 'json-1k', 1000),
  stream: (gateway) => headraceTarget(gateway, 'sse-50', 1000),
  'chat-to-messages': (gateway) => headraceTarget(gateway, 'messages-1k', 1000),
  'chat-to-messages-stream': (gateway) => headraceTarget(gateway, 'messages-50', 1000),
  'chat-to-gemini-stream': (gateway) => headraceTarget(gateway, 'gemini-50', 1000),
  'messages-to-chat': (gateway) => messagesTarget(gateway, 'json-1k', 1000),
  'messages-to-chat-stream': (gateway) => messagesTarget(gateway, 'sse-50', 1000),
  embeddings: embeddingsTarget,
  'json-100k': (gateway) => headraceTarget(gateway, 'json-100k', 100_000),
}

/** The most that a row may cost of what it cost before; beyond, the decision record of the change says why. */
const ratioMax = 1.03
/** Processes of each version. Two of one version differ by up to an eighth for as long as they run. */
const processes = 3

export interface PairsOptions {
  /** Names of rows, separated by commas; all when left out. */
  only: string | undefined
  /** Settings of the processes that this checkout is compared with, as JSON; they are then of this checkout as well. */
  against: string | undefined
  /** Settings of this checkout's own processes, as JSON; the usual ones when left out. */
  own: string | undefined
  output: string
}

/**
 * `npm run bench -- pairs [COMMIT]`: this checkout against a commit, without one against the last release, row by row in
 * interleaved rounds of several processes each; what those of the commit differ by is the machine's. Adds a line to
 * `bench/history.jsonl`, unless some rows were left out. With `--against '{"request_log_days":0}'` it is this checkout against
 * itself with other settings; with `--with` they are this checkout's own, for what an earlier version did not do yet. The
 * exit code is 1 when a row costs more than `ratioMax`.
 */
export async function runPairs(
  commit: string | undefined,
  { only, against, own, output }: PairsOptions,
): Promise<number> {
  const names = only?.split(',') ?? Object.keys(rows)
  const unknown = names.find((name) => !(name in rows))
  const before = shortCommit(commit ?? (against === undefined ? referenceCommit().commit : 'HEAD'))
  const started = startedOf(before, against)
  if (started === null || unknown !== undefined) {
    console.error(
      unknown === undefined
        ? 'Name a commit of this repository: npm run bench -- pairs [COMMIT] [--only ROW,ROW] [--against SETTINGS] [--with SETTINGS]'
        : `There is no row "${unknown}"; the rows are ${Object.keys(rows).join(', ')}.`,
    )
    return 2
  }
  const found = await measure(names, { before: started, now: settingsOf(own) }, join(output, 'pairs'))
  if (only === undefined && against === undefined && own === undefined)
    appendFileSync(historyFile, `${JSON.stringify(entryOf(before, found))}\n`)
  const slower = found.filter(([, { ratio }]) => ratio > ratioMax).map(([name]) => name)
  if (slower.length > 0) console.log(`\nMore than ${ratioMax} × before: ${slower.join(', ')}.`)
  return slower.length === 0 ? 0 : 1
}

type Found = readonly (readonly [name: string, figures: PairFigures])[]

/** What stands for `before`; null where there is no such commit. */
function startedOf(commit: string | null, against: string | undefined): Started | null {
  if (against !== undefined) return settingsOf(against)
  const root = commit === null ? null : checkOut(commit)
  return root === null ? null : { root }
}

function settingsOf(json: string | undefined): Started {
  return json === undefined ? {} : { settings: JSON.parse(json) as Record<string, unknown> }
}

async function measure(
  names: readonly string[],
  started: { before: Started; now: Started },
  folder: string,
): Promise<Found> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return beside(folder, async (start) => {
    const before: Headrace[] = []
    const now: Headrace[] = []
    for (let each = 1; each <= processes; each += 1) {
      before.push(await start.gateway(`before-${each}`, started.before))
      now.push(await start.gateway(`now-${each}`, started.now))
    }
    const found: [string, PairFigures][] = []
    for (const name of names) {
      const targetOf = rows[name]
      if (targetOf === undefined) continue
      const compared = { first: before.map(targetOf), second: now.map(targetOf) }
      const figures = await comparePairs(compared, folder)
      console.log(lineOf(name, figures))
      found.push([name, figures])
    }
    return found
  })
}

function lineOf(name: string, { ratio, ratios, noise, firstMicroseconds, secondMicroseconds }: PairFigures) {
  const costs = `${firstMicroseconds.toFixed(0)} → ${secondMicroseconds.toFixed(0)} µs of CPU`
  return `${name.padEnd(24)} ${ratio.toFixed(3)} × (${spreadOf(ratios)}), ${costs}; processes before ${spreadOf(noise)}`
}

function spreadOf(ratios: readonly number[]): string {
  return `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
}

function entryOf(against: string | null, found: Found): object {
  const each = (figureOf: (figures: PairFigures) => number) =>
    Object.fromEntries(found.map(([name, figures]) => [name, figureOf(figures)]))
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: `${shortCommit('HEAD') ?? 'unknown'}${hasChanges() ? ' and changes' : ''}`,
    against,
    ratios: each(({ ratio }) => Math.round(ratio * 1000) / 1000),
    noise: each(({ noise }) => Math.round(median(noise) * 1000) / 1000),
    microseconds: each(({ secondMicroseconds }) => Math.round(secondMicroseconds)),
    machine: machineFacts(),
  }
}
