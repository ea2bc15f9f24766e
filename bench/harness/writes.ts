import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { percentile } from './figures.ts'
import { runProgram } from './program.ts'
import type { Latencies } from './open-loop.ts'
import type { Target } from './target.ts'

/** Calls a second at which nearly every call is a group of its own, and how long they come. */
export const quietRate = 200
const quietSeconds = 5
/** How long calls may wait for one another where the budget of writes is held. */
export const sharedDelayMs = 20
/** A tracer needs this long until it sees every thread. */
const tracerStartMs = 500

/** What one call writes, and how long it takes, while calls come at the quiet rate. */
export interface CallWrites {
  /** Bytes that the program causes to be written to disks. */
  bytes: number
  /** Write calls of its worker threads, of which a gateway has one: the database's. Its wake-ups are among them. */
  calls: number
  p50Ms: number
  p99Ms: number
}

/** What a call to this target writes. Linux only. Throws when calls fail, because they would seem to write nothing. */
export async function writesOfCalls(target: Target): Promise<CallWrites> {
  const pid = target.process.workingPid()
  const before = writesOf(pid)
  const ran = await callQuietly(target)
  await Bun.sleep(500)
  const after = writesOf(pid)
  return {
    bytes: (after.bytes - before.bytes) / ran.sent,
    calls: (after.calls - before.calls) / ran.sent,
    p50Ms: percentile(ran.lastMs, 0.5),
    p99Ms: percentile(ran.lastMs, 0.99),
  }
}

/** Writes at an offset (`pwrite`) of one call, in a run of its own below strace; null where there is no strace. */
export async function positionedWritesOfCalls(target: Target, folder: string): Promise<number | null> {
  if (Bun.which('strace') === null) return null
  const summary = join(folder, `${target.name}-pwrite.txt`)
  const tracer = Bun.spawn(
    [
      'strace',
      '-f',
      '-c',
      '-e',
      'trace=pwrite64,pwritev',
      '-o',
      summary,
      '-p',
      String(target.process.workingPid()),
    ],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  )
  await Bun.sleep(tracerStartMs)
  if (tracer.exitCode !== null) return null
  const { sent } = await callQuietly(target)
  tracer.kill('SIGINT')
  await tracer.exited
  // Columns: share of time, seconds, microseconds a call, calls, errors where there were any, name.
  const lines = readFileSync(summary, 'latin1')
    .split('\n')
    .filter((line) => /pwritev?(64)?$/.test(line))
  return lines.reduce((total, line) => total + Number(line.trim().split(/\s+/)[3] ?? 0), 0) / sent
}

async function callQuietly({ name, port, path, headers, body }: Target): Promise<Latencies> {
  const options = { port, path, headers, body, rate: quietRate, seconds: quietSeconds }
  const ran = await runProgram<Latencies>('open-loop.ts', options)
  if (ran.failures > 0) throw new Error(`${ran.failures} of ${ran.sent} calls to ${name} failed`)
  return ran
}

function writesOf(pid: number): { bytes: number; calls: number } {
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
