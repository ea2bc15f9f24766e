/**
 * Proof 3: kills real gateways before and after every commit point, on both databases, with 1 and 4 processes, and prints
 * the table. `run.ts [sqlite|postgres] [processes] [hits] [jobs[:K/N]|random] [folder|s3]` runs a part of it: with `jobs` only
 * the commit points of providers' jobs, with `jobs:2/4` the second quarter of them, with `random` so many kills at any moment,
 * with `s3` on an S3 server. Exits with 1 when a site was hit too seldom or anything was not as promised.
 */
import { whyNoPostgres } from '../support/postgres.ts'
import { whyNoS3 } from '../support/s3-server.ts'
import { anyMoment, type CampaignResult, runCampaign } from './campaign.ts'
import { type CrashSite, keyOfPoint } from './crash-plan.ts'
import { allSites, jobPoints } from './sites.ts'
import type { DialectName } from '../../src/storage/dialect.ts'
import type { PayloadHome } from './world.ts'

interface Column {
  database: DialectName
  processes: number
  result: CampaignResult
}

const msMax = 3_000_000
const lanesMax = 3
const problemsShown = 20
const [onlyDatabase, onlyProcesses, hitsText = '5', part = '', home = 'folder'] = process.argv.slice(2)
const payloads: PayloadHome = home === 's3' ? 's3' : 'folder'
const sites = sitesOf(part)
const hits = Number(hitsText)
const isRandom = part === 'random'
const databases: DialectName[] = ['sqlite', 'postgres']
const counts = [1, 4]

function sitesOf(wish: string): readonly CrashSite[] {
  if (!wish.startsWith('jobs')) return allSites
  const [, place = '1', count = '1'] = /^jobs:(\d+)\/(\d+)$/.exec(wish) ?? []
  const ofJobs = allSites.filter(({ point }) => jobPoints.has(point))
  return ofJobs.filter((_, index) => index % Number(count) === Number(place) - 1)
}

function wanted(): { database: DialectName; processes: number }[] {
  return counts
    .flatMap((processes) => databases.map((database) => ({ database, processes })))
    .filter(({ database }) => !onlyDatabase || database === onlyDatabase)
    .filter(({ processes }) => !onlyProcesses || processes === Number(onlyProcesses))
    .filter(({ database }) => database === 'sqlite' || whyNoPostgres() === null)
}

/** A single process is killed in several worlds at once, since much of a life is waiting; their hits add up. */
async function runLanes(each: { database: DialectName; processes: number }): Promise<CampaignResult> {
  const lanes = each.processes === 1 ? Math.min(lanesMax, hits) : 1
  const hitsOfLane = Math.ceil(hits / lanes)
  const options = {
    ...each,
    payloads,
    sites,
    msMax,
    ...(isRandom ? { hits: 0, randomKills: hitsOfLane } : { hits: hitsOfLane }),
  }
  const results = await Promise.all(Array.from({ length: lanes }, () => runCampaign(options)))
  const sum = results.reduce(addResults)
  const { kills, seconds } = sum.figures
  const { database, processes } = each
  process.stderr.write(
    `${database}×${processes}: ${kills} kills in ${seconds} s, ${sum.problems.length} problems\n`,
  )
  // At once: a later part that throws would leave them unsaid.
  for (const problem of sum.problems.slice(0, problemsShown))
    process.stderr.write(`WRONG: ${database}×${processes}: ${problem}\n`)
  return sum
}

function addResults(left: CampaignResult, right: CampaignResult): CampaignResult {
  const sum = new Map(left.hits)
  for (const [key, count] of right.hits) sum.set(key, (sum.get(key) ?? 0) + count)
  return {
    hits: sum,
    problems: [...left.problems, ...right.problems],
    figures: {
      kills: left.figures.kills + right.figures.kills,
      batches: left.figures.batches + right.figures.batches,
      calls: left.figures.calls + right.figures.calls,
      seconds: Math.max(left.figures.seconds, right.figures.seconds),
    },
  }
}

function printTable(columns: readonly Column[]): boolean {
  const heads = columns.map(({ database, processes }) => `${database}×${processes}`)
  console.log(`${'commit point'.padEnd(32)}${heads.map((head) => head.padStart(12)).join('')}  ok`)
  let isGood = true
  for (const name of isRandom ? [anyMoment] : sites.map(keyOfPoint)) {
    const cells = columns.map(({ result }) => result.hits.get(name) ?? 0)
    const isOk = cells.every((cell) => cell >= hits)
    isGood &&= isOk
    const shown = cells.map((cell) => String(cell).padStart(12)).join('')
    console.log(`${name.padEnd(32)}${shown}  ${isOk ? 'ok' : 'TOO FEW'}`)
  }
  return isGood
}

function printProblems(columns: readonly Column[]): boolean {
  for (const { database, processes, result } of columns) {
    const { kills, batches, calls, seconds } = result.figures
    console.log(
      `${database}×${processes}: ${kills} kills, ${batches} batches and ${calls} live calls in ${seconds} s; ${result.problems.length} problems`,
    )
    for (const problem of result.problems.slice(0, problemsShown))
      console.log(`WRONG: ${database}×${processes}: ${problem}`)
  }
  return columns.every(({ result }) => result.problems.length === 0)
}

const columns: Column[] = []
for (const processes of counts) {
  const together = wanted().filter((each) => each.processes === processes)
  const run = async (each: (typeof together)[number]): Promise<Column> => ({
    ...each,
    result: await runLanes(each),
  })
  columns.push(...(await Promise.all(together.map(run))))
}
const reason = whyNoPostgres() ?? (payloads === 's3' ? whyNoS3() : null)
if (reason !== null) console.log(`WRONG: ${reason}`)
const isComplete = printTable(columns)
const isSound = printProblems(columns)
process.exit(isComplete && isSound && reason === null ? 0 : 1)
