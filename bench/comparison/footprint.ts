import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { idleMs, saturatedConnections } from '../harness/bounds.ts'
import { checkOut, shortCommit } from '../harness/checkout.ts'
import { startHeadrace, type Headrace } from '../harness/headrace.ts'
import { chatReplies } from '../harness/replies.ts'
import { headraceTarget, type Target } from '../harness/target.ts'
import { positionedWritesOfCalls, sharedDelayMs, writesOfCalls } from '../harness/writes.ts'
import { runWrk } from '../harness/wrk.ts'
import { names } from './field.ts'
import type { Run } from './comparison.ts'

const here = join(import.meta.dir, '../..')

/** Columns of what a call writes: when it commits alone, and when the operator lets calls wait for one another. */
export const writeColumns = {
  alone: { bytes: 'bytes written', writes: 'pwrite' },
  shared: { bytes: 'bytes written, waiting', writes: 'pwrite, waiting' },
} as const

/** What a call writes at 200 a second: of the floor, and of a gateway of its own with each delay. */
export async function writes(run: Run): Promise<void> {
  const { field, sheet } = run
  const { floor, folder, upstreams } = field
  const passed = headraceTarget(field.own, 'json-1k', 1000)
  const floorTarget: Target = {
    ...passed,
    name: names.floor,
    port: floor.port,
    path: '/json-1k/v1/chat/completions',
    process: floor.process,
    headrace: null,
  }
  await keepWrites(floorTarget, names.floor, writeColumns.alone, run)
  await keepWrites({ ...passed, name: names.own }, names.own, writeColumns.alone, run)
  sheet.leaveOut(writeColumns.shared.bytes, names.floor, 'it knows no delay')
  const settings = { commit_delay_ms: sharedDelayMs }
  const waiting = await startHeadrace({ name: 'shared-writes', folder, upstreams, isPrepaid: true, settings })
  field.stopLater(waiting.process)
  try {
    const target = headraceTarget(waiting, 'json-1k', 1000)
    // So that the gateway has learnt how close together calls come.
    await writesOfCalls(target)
    await keepWrites(target, names.own, writeColumns.shared, run)
  } finally {
    await waiting.process.stop()
  }
}

async function keepWrites(
  target: Target,
  program: string,
  to: { bytes: string; writes: string },
  { sheet, field }: Run,
): Promise<void> {
  const each = await writesOfCalls(target)
  sheet.put(to.bytes, program, [each.bytes / 1000])
  // Without a tracer the thread's wake-ups are counted too, so that the figure is never too low.
  sheet.put(to.writes, program, [(await positionedWritesOfCalls(target, field.folder)) ?? each.calls])
}

/** Memory after a load and idle that no other process has, of this version and of the one that it is held against. */
export async function memory(run: Run): Promise<void> {
  const { field, beforeCommit, scale } = run
  const earlier = shortCommit(beforeCommit) === null ? null : checkOut(beforeCommit)
  const started = [await startAlone(names.own, here, run)]
  try {
    if (earlier !== null) started.push(await startAlone(names.before, earlier, run))
    for (const { name, headrace } of started) {
      const target = { ...headraceTarget(headrace, 'json-1k', 1000), name }
      const load = { folder: field.folder, connections: saturatedConnections, seconds: scale.memorySeconds }
      await runWrk(target, load)
      await runWrk({ ...headraceTarget(headrace, 'sse-50', 1000), name }, load)
      keepMemory('after load', name, headrace, run)
    }
    await Bun.sleep(idleMs)
    for (const { name, headrace } of started) keepMemory('idle', name, headrace, run)
  } finally {
    for (const { headrace } of started) await headrace.process.stop()
  }
}

function keepMemory(when: string, program: string, { process }: Headrace, { sheet }: Run): void {
  sheet.put(`private ${when}`, program, [process.privateBytes() / 1e6])
  sheet.put(`anonymous ${when}`, program, [process.anonymousBytes() / 1e6])
}

/**
 * Starts a gateway whose runtime is a copy of its own, so that its pages are its own as on a machine where no other Bun
 * runs: this program is one, and so is the durable floor.
 */
async function startAlone(
  name: string,
  from: string,
  { field }: Run,
): Promise<{ name: string; headrace: Headrace }> {
  const root = join(field.folder, `installed ${name}`)
  const packages = join('node_modules', '@oven')
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  cpSync(join(from, 'bin'), join(root, 'bin'), { recursive: true })
  cpSync(join(here, packages), join(root, packages), { recursive: true, dereference: true })
  for (const shared of ['src', 'package.json']) symlinkSync(join(from, shared), join(root, shared))
  const { folder, upstreams } = field
  const options = { name: `alone ${name}`, folder, upstreams, isPrepaid: true, root }
  const headrace = await startHeadrace({ ...options, replies: chatReplies })
  field.stopLater(headrace.process)
  return { name, headrace }
}
