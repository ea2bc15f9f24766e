import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { largeBatch } from './cases/batch.ts'
import { besideBatch } from './cases/beside-batch.ts'
import { hangUps } from './cases/hang-ups.ts'
import { installed, startTimes } from './cases/installation.ts'
import { openLoopJson, openLoopPaced, openLoopStream } from './cases/open-loop.ts'
import { bodies, pacedStream, saturatedJson, saturatedStream } from './cases/saturated.ts'
import { itemCosts } from './cases/items.ts'
import { footprint } from './cases/footprint.ts'
import { embeddings, translated } from './cases/translated.ts'
import { slowStreams, stalledReaders } from './cases/slow-streams.ts'
import { uploads } from './cases/uploads.ts'
import { machineFacts, recordBaseline, regressions, tableOf, type Report } from './harness/report.ts'
import { fullScale, quickScale, type Scale } from './harness/scale.ts'
import { runPairs } from './pairs.ts'
import { runPeers } from './peers.ts'
import { startWorld, type World } from './harness/world.ts'

/** Everything that can be measured, in the order in which it is. */
const cases: Readonly<Record<string, (world: World, report: Report, scale: Scale) => Promise<void>>> = {
  json: saturatedJson,
  stream: saturatedStream,
  paced: pacedStream,
  translated,
  embeddings,
  bodies,
  footprint,
  'open-json': openLoopJson,
  'open-stream': openLoopStream,
  'open-paced': openLoopPaced,
  'hang-ups': hangUps,
  slow: slowStreams,
  stalled: stalledReaders,
  batch: largeBatch,
  upload: uploads,
  items: itemCosts,
  'beside-batch': besideBatch,
  start: startTimes,
  installed,
}

const root = join(import.meta.dir, '..')
const output = join(root, '.bench')
const baseline = join(import.meta.dir, 'baseline.json')

const { values: options, positionals } = parseArgs({
  args: Bun.argv.slice(2),
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    /** Names of cases, separated by commas. */
    only: { type: 'string' },
    hangups: { type: 'string' },
    rounds: { type: 'string' },
    /** Of the command `pairs`: settings of the processes of this checkout that it is compared with, as JSON. */
    against: { type: 'string' },
    /** Of the command `pairs`: settings of this checkout's own processes, as JSON. */
    with: { type: 'string' },
    /** Takes this run's ratios as what later ones are compared with. */
    record: { type: 'boolean', default: false },
    /** Of the command `peers`: puts its tables into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Flags for the Bun that runs Headrace, separated by spaces; for profilers. */
    bun: { type: 'string', default: '' },
  },
})

const [command, commit] = positionals
process.exit(await runCommand())

async function runCommand(): Promise<number> {
  const { only, against, with: own, quick: isQuick, write: isWritten } = options
  if (command === undefined) return run()
  if (command === 'pairs') return runPairs(commit, { only, against, own, output })
  if (command === 'peers') return runPeers({ output, only, isQuick, isWritten })
  console.error(`There is no command "${command}"; there are: pairs [COMMIT] and peers.`)
  return 2
}

async function run(): Promise<number> {
  const names = options.only?.split(',') ?? Object.keys(cases)
  const unknown = names.find((name) => !(name in cases))
  if (unknown !== undefined) {
    console.error(`There is no case "${unknown}"; the cases are ${Object.keys(cases).join(', ')}.`)
    return 2
  }
  mkdirSync(output, { recursive: true })
  const report: Report = { rows: [], ratios: {} }
  const world = await startWorld(output, options.bun.split(' ').filter(Boolean))
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void world.stop().finally(() => process.exit(130)))
  try {
    for (const name of names) await runCase(name, world, report)
  } finally {
    await world.stop()
  }
  return finish(report)
}

/** A case that throws is a row that failed; the others still run. */
async function runCase(name: string, world: World, report: Report): Promise<void> {
  console.error(`… ${name}`)
  const before = report.rows.length
  try {
    await cases[name]?.(world, report, scaleOf())
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    report.rows.push({ case: name, figure: message, budget: 'to run', verdict: 'FAIL' })
  }
  // Shown at once as well, because the table comes minutes later.
  console.error(tableOf(report.rows.slice(before)))
}

function scaleOf(): Scale {
  const scale = options.quick ? quickScale : fullScale
  return {
    ...scale,
    hangUps: options.hangups === undefined ? scale.hangUps : Number(options.hangups),
    rounds: options.rounds === undefined ? scale.rounds : Number(options.rounds),
  }
}

function finish(report: Report): number {
  report.rows.push(...regressions(report.ratios, baseline))
  if (options.record) recordBaseline(report.ratios, baseline)
  writeFileSync(
    join(output, 'last.json'),
    `${JSON.stringify({ machine: machineFacts(), ...report }, null, 2)}\n`,
  )
  console.log(tableOf(report.rows))
  const failed = report.rows.filter(({ verdict }) => verdict === 'FAIL').length
  const missed = report.rows.filter(({ verdict }) => verdict === 'MISSED').length
  console.log(`\n${missed} budgets missed, ${failed} checks failed.`)
  return failed === 0 ? 0 : 1
}
