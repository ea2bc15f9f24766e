import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { readyWaitMs, stopWaitMs } from './bounds.ts'

/** Ticks of /proc/<pid>/stat a second; fixed on Linux. */
const ticksPerSecond = 100

/** A program the bench started, with what it costs. */
export interface Running {
  readonly name: string
  readonly pid: number
  /** CPU time of the program, its threads and its children since its start, in milliseconds; steps of 10. */
  cpuMs(): number
  /** Memory of the program and its children that is in RAM, in bytes. */
  residentBytes(): number
  /** The same of its largest process alone: on an old Node the launcher stays beside the gateway. */
  largestBytes(): number
  /** Memory of the program and its children that no other process could share, in bytes: pages of no file. Linux only. */
  anonymousBytes(): number
  /** Memory of the program and its children that no other process has mapped, in bytes: of files too. Linux only. */
  privateBytes(): number
  /** The process that does the work: below a launcher that stays, its child. */
  workingPid(): number
  hasEnded(): boolean
  /** Asks it to end, then kills it. */
  stop(): Promise<void>
}

/** What to start; output goes to `logFile`. */
export interface Program {
  name: string
  command: readonly string[]
  cwd: string
  env?: Readonly<Record<string, string | undefined>>
  logFile: string
}

/** Starts a program; says nothing of its being ready. */
export function start(program: Program): Running {
  const log = openSync(program.logFile, 'a')
  const child = Bun.spawn([...program.command], {
    cwd: program.cwd,
    env: { ...cleanEnvironment(), ...program.env },
    stdin: 'ignore',
    stdout: log,
    stderr: log,
  })
  closeSync(log)
  return {
    name: program.name,
    pid: child.pid,
    cpuMs: () => sum(treeOf(child.pid).map(cpuTicks)) * (1000 / ticksPerSecond),
    residentBytes: () => sum(treeOf(child.pid).map(residentOf)),
    largestBytes: () => Math.max(...treeOf(child.pid).map(residentOf)),
    anonymousBytes: () => sum(treeOf(child.pid).map(anonymousOf)),
    privateBytes: () => sum(treeOf(child.pid).map(privateOf)),
    workingPid: () => treeOf(child.pid).at(-1) ?? child.pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), stopWaitMs)
      await child.exited
      clearTimeout(timer)
    },
  }
}

/** Below npm the launcher stays as a parent; without its variables it is replaced, as when started by hand. */
function cleanEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined && !/^(npm_|HEADRACE_|DATABASE_URL|BUN_|[A-Z]+_API_KEY)/.test(name),
  )
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']))
}

/** Runs `isReady` until it says yes. Throws when the program ends or `readyWaitMs` have passed. */
export async function untilReady(running: Running, isReady: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + readyWaitMs
  while (performance.now() < endMs) {
    if (running.hasEnded()) throw new Error(`${running.name} ended before it was ready; see its log.`)
    if (await isReady().catch(() => false)) return
    await Bun.sleep(10)
  }
  throw new Error(`${running.name} was not ready within ${readyWaitMs} ms; see its log.`)
}

/** A port of the loopback interface that nobody listens on just now. */
export function sparePort(): number {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = server
  server.stop(true)
  return port
}

function treeOf(root: number): number[] {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const parent = statOf(Number(entry))?.[1]
    if (parent !== undefined) parents.set(Number(entry), Number(parent))
  }
  const tree = [root]
  // The list grows while it is walked, so that children of children are found too.
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child)
  return tree
}

/** Fields of /proc/<pid>/stat behind the name: state, parent, …; null when the process is gone. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

function cpuTicks(pid: number): number {
  const stat = statOf(pid)
  // utime, stime, and those of children that have ended.
  return stat === null ? 0 : sum(stat.slice(11, 15).map(Number))
}

function residentOf(pid: number): number {
  return bytesIn(`/proc/${pid}/status`, 'VmRSS')
}

function anonymousOf(pid: number): number {
  return bytesIn(`/proc/${pid}/smaps_rollup`, 'Anonymous')
}

function privateOf(pid: number): number {
  const file = `/proc/${pid}/smaps_rollup`
  return bytesIn(file, 'Private_Clean') + bytesIn(file, 'Private_Dirty')
}

/** A figure of a process in bytes; 0 when the process is gone. */
function bytesIn(file: string, name: string): number {
  try {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'latin1'))
    return Number(match?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
