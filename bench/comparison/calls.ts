import { cpus } from 'node:os'
import { saturatedConnections } from '../harness/bounds.ts'
import { callSteadily, type LatencyRound } from '../harness/open-loop.ts'
import { loadInRounds } from '../harness/rounds.ts'
import type { Target } from '../harness/target.ts'
import { directTarget, type LineUp, lineUp, type Question } from './field.ts'
import type { Run } from './comparison.ts'
import type { Column } from './sheet.ts'

/** Calls a second at which the delay is measured. */
const steadyRate = 500
/** Of the cores, the part that a program may need at that rate and still answer; beyond it calls only queue. */
const steadyShareMax = 0.9
/** Streams at once whose chunks come one by one: each lasts a second, so that so many begin in each. */
const pacedStreams = 128

const json: Question = { reply: 'json-1k', requestBytes: 1000 }

/** CPU and memory of a JSON call of 1 kB in each direction, then what a caller waits longer than at the provider. */
export async function jsonCalls(run: Run): Promise<void> {
  const line = await lineUp(run.field, json)
  try {
    await costOf('json', line, run)
    for (const target of line.targets)
      run.sheet.put('memory', target.name, [target.process.residentBytes() / 1e6])
    await addedDelay(line, run)
  } finally {
    await line.stop()
  }
}

/** CPU of other calls: of a stream in one piece, of one that comes at the pace of a model, of larger answers. */
export async function streamCalls(run: Run): Promise<void> {
  await costAlone('stream', { reply: 'sse-50', requestBytes: 1000 }, run)
}

export async function pacedCalls(run: Run): Promise<void> {
  await costAlone('paced', { reply: '20-50-20', requestBytes: 1000 }, run)
}

export async function bodyCalls(run: Run): Promise<void> {
  await costAlone('body', { reply: 'json-100k', requestBytes: 100_000 }, run)
}

export async function embeddingCalls(run: Run): Promise<void> {
  await costAlone('embeddings', { reply: 'embeddings-1536', requestBytes: 1000 }, run)
}

async function costAlone(column: Column, question: Question, run: Run): Promise<void> {
  const line = await lineUp(run.field, question)
  try {
    await costOf(column, line, run)
  } finally {
    await line.stop()
  }
}

/** Loads every program in turn and keeps the CPU of a call; then the ledger has a capture for every answer. */
async function costOf(column: Column, { targets, missing }: LineUp, run: Run): Promise<void> {
  const { sheet, scale, field } = run
  for (const [program, reason] of missing) sheet.leaveOut(column, program, reason)
  const isSlow = column === 'paced'
  const before = run.field.own.captures()
  const samples = await loadInRounds(targets, {
    folder: field.folder,
    connections: isSlow ? pacedStreams : saturatedConnections,
    rounds: column === 'json' || column === 'stream' ? scale.rounds : scale.fewRounds,
    seconds: isSlow ? scale.pacedSeconds : scale.seconds,
    warmSeconds: scale.warmSeconds,
  })
  let answered = 0
  for (const target of targets) {
    const rounds = samples.get(target.name) ?? []
    const failed = rounds.reduce((total, { failures }) => total + failures, 0)
    const isEmpty = rounds.some(({ requests }) => requests === 0)
    if (failed > 0) sheet.leaveOut(column, target.name, `${failed} of its calls failed`)
    else if (isEmpty) sheet.leaveOut(column, target.name, 'it answered nothing in one of the rounds')
    else
      sheet.put(
        column,
        target.name,
        rounds.map(({ cpuMicroseconds }) => cpuMicroseconds),
      )
    if (target.headrace === field.own) answered = rounds.reduce((total, { requests }) => total + requests, 0)
  }
  await checkLedger(column, { before, answered }, run)
}

async function checkLedger(
  column: Column,
  { before, answered }: { before: number; answered: number },
  { checks, field }: Run,
): Promise<void> {
  // The calls that the load left unfinished are captured a moment later.
  await Bun.sleep(300)
  const captures = field.own.captures() - before
  const sum = field.own.postingsSum()
  checks.push({
    what: `ledger after ${column}: a capture each, postings sum to 0`,
    figure: `${captures} captures for ${answered} answers, sum ${sum}`,
    isGood: captures >= answered && answered > 0 && sum === 0n,
  })
}

/** What each program adds to the first byte at a steady rate, over a call straight to the provider in the same round. */
async function addedDelay({ targets, missing }: LineUp, run: Run): Promise<void> {
  const { sheet, scale, field } = run
  const leaveOut = (program: string, reason: string) => {
    for (const column of ['addedP50', 'addedP99']) sheet.leaveOut(column, program, reason)
  }
  for (const [program, reason] of missing) leaveOut(program, reason)
  const direct = directTarget(field, json)
  const able = targets.filter(({ name }) => {
    const microseconds = sheet.valueOf('json', name)
    if (microseconds === null) leaveOut(name, sheet.reasonOf('json', name))
    else if ((microseconds * steadyRate) / 1e6 <= cpus().length * steadyShareMax) return true
    else leaveOut(name, `it cannot answer ${steadyRate}/s here`)
    return false
  })
  const added = new Map(able.map(({ name }) => [name, { p50: [] as number[], p99: [] as number[] }]))
  for (let round = 0; round < scale.rounds; round += 1) {
    const straight = await askSteadily(direct, run)
    for (const target of able) {
      const figures = added.get(target.name)
      if (figures === undefined) continue
      const through = await askSteadily(target, run)
      if (through.failures === 0) {
        figures.p50.push(through.first50 - straight.first50)
        figures.p99.push(through.first99 - straight.first99)
        continue
      }
      leaveOut(target.name, `${through.failures} of its calls at ${steadyRate}/s failed`)
      added.delete(target.name)
    }
  }
  for (const [program, { p50, p99 }] of added) {
    sheet.put('addedP50', program, p50)
    sheet.put('addedP99', program, p99)
  }
}

function askSteadily(target: Target, { scale }: Run): Promise<LatencyRound> {
  return callSteadily(target, { rate: steadyRate, seconds: scale.steadySeconds })
}
