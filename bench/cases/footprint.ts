import { readdirSync, readFileSync } from 'node:fs'
import { megabytes, percentile } from '../harness/figures.ts'
import { callerKey, type Headrace, startHeadrace } from '../harness/headrace.ts'
import { runProgram } from '../harness/program.ts'
import { atMost, fact, notRun, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { headraceTarget } from '../harness/target.ts'
import type { World } from '../harness/world.ts'
import { runWrk } from '../harness/wrk.ts'
import { batchWaitMs, saturatedConnections } from '../harness/bounds.ts'
import type { Latencies } from './open-loop.ts'

/** Calls a second at which nearly every call is a group of its own, and how long they come. */
const quietRate = 200
const quietSeconds = 5
/** How long calls may wait for one another where the budget of writes is held. */
const sharedDelayMs = 20
/** How long a gateway rests before its memory counts as idle, in milliseconds. */
const idleMs = 15_000
const itemCount = 10_000

/**
 * What a gateway of its own writes and keeps: bytes and writes a call at a rate at which calls do not share a group,
 * memory that is its own after load and at rest, and what an item of a batch costs of a live call.
 */
export async function footprint(world: World, report: Report, scale: Scale): Promise<void> {
  if (process.platform !== 'linux') {
    report.rows.push(notRun('writes and memory', 'they can be read on Linux only'))
    return
  }
  const { folder, upstreams } = world
  const headrace = await startHeadrace({ name: 'headrace-footprint', folder, upstreams, isPrepaid: true })
  world.stopLater(headrace.process)
  const target = headraceTarget(headrace, 'json-1k', 1000)
  const load = { folder, connections: saturatedConnections, seconds: scale.warmSeconds }
  await runWrk(target, load)
  const startedMs = headrace.process.cpuMs()
  const { requests } = await runWrk(target, load)
  const callMicroseconds = ((headrace.process.cpuMs() - startedMs) * 1000) / requests
  report.rows.push(fact('memory of its own after load', megabytes(headrace.process.anonymousBytes())))
  await Bun.sleep(idleMs)
  report.rows.push(fact('memory of its own at rest', megabytes(headrace.process.anonymousBytes())))

  const alone = await writesOfCalls(headrace)
  report.rows.push(
    fact(`written a call at ${quietRate}/s`, kilobytesOf(alone)),
    fact(`writes a call of the database's thread at ${quietRate}/s`, alone.calls.toFixed(1)),
  )
  await sharedWrites(world, report)
  const itemMicroseconds = await itemCost(headrace)
  const ratio = itemMicroseconds / callMicroseconds
  const figure = `${itemMicroseconds.toFixed(0)} µs, ${ratio.toFixed(2)}× a live call`
  report.rows.push(atMost('CPU of a batch item', figure, { value: ratio, limit: 1.5, unit: '×' }))
}

/** The same where the operator lets calls wait for one another, which the budget is for. */
async function sharedWrites({ folder, upstreams, stopLater }: World, report: Report): Promise<void> {
  const name = 'headrace-shared-writes'
  const settings = { commit_delay_ms: sharedDelayMs }
  const headrace = await startHeadrace({ name, folder, upstreams, isPrepaid: true, settings })
  stopLater(headrace.process)
  // So that the gateway has learnt how close together they come.
  await writesOfCalls(headrace)
  const each = await writesOfCalls(headrace)
  const bytes = { value: each.bytes / 1000, limit: 6, unit: ' kB' }
  const when = `at ${quietRate}/s, delay of ${sharedDelayMs} ms`
  report.rows.push(
    atMost(`written a call ${when}`, kilobytesOf(each), bytes),
    atMost(`writes a call ${when}`, each.calls.toFixed(1), { value: each.calls, limit: 4 }),
    fact(`answers ${when}, p50 and p99`, `${each.p50Ms.toFixed(1)} and ${each.p99Ms.toFixed(1)} ms`),
  )
}

function kilobytesOf({ bytes }: Writes): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}

/** What one call writes while calls come at the quiet rate. */
async function writesOfCalls(headrace: Headrace): Promise<Writes & { p50Ms: number; p99Ms: number }> {
  const pid = headrace.process.workingPid()
  const before = writesOf(pid)
  const { port, path, headers, body } = headraceTarget(headrace, 'json-1k', 1000)
  const options = { port, path, headers, body, rate: quietRate, seconds: quietSeconds }
  const ran = await runProgram<Latencies>('open-loop.ts', options)
  await Bun.sleep(500)
  const after = writesOf(pid)
  return {
    bytes: (after.bytes - before.bytes) / ran.sent,
    calls: (after.calls - before.calls) / ran.sent,
    p50Ms: percentile(ran.lastMs, 0.5),
    p99Ms: percentile(ran.lastMs, 0.99),
  }
}

/** CPU of one item of a batch from its acceptance to the batch's end, in microseconds. */
async function itemCost(headrace: Headrace): Promise<number> {
  const startedMs = headrace.process.cpuMs()
  const { id } = await runProgram<{ id: string }>('batch-upload.ts', {
    port: headrace.port,
    path: '/v1/batches',
    headers: { authorization: `Bearer ${callerKey}` },
    model: 'bench/json-1k',
    bytes: itemCount * 1000,
    items: itemCount,
  })
  const endMs = performance.now() + batchWaitMs
  while (headrace.batchStatus(id) !== 'completed') {
    if (performance.now() > endMs) throw new Error('the batch took too long')
    await Bun.sleep(100)
  }
  return ((headrace.process.cpuMs() - startedMs) * 1000) / itemCount
}

interface Writes {
  /** Bytes that a process caused to be written to disks. */
  bytes: number
  /** Write calls of its worker threads, of which the gateway has one: the database's. Its wake-ups are among them. */
  calls: number
}

function writesOf(pid: number): Writes {
  const threads = readdirSync(`/proc/${pid}/task`).filter(
    (thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'latin1').trim() === 'Worker',
  )
  const calls = threads.map((thread) => figureIn(`/proc/${pid}/task/${thread}/io`, 'syscw'))
  return {
    bytes: figureIn(`/proc/${pid}/io`, 'write_bytes'),
    calls: calls.reduce((total, count) => total + count, 0),
  }
}

function figureIn(file: string, name: string): number {
  const line = readFileSync(file, 'latin1')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`))
  return Number(line?.slice(name.length + 1) ?? 0)
}
