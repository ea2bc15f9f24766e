import type { ProcessReport } from './process-report.ts'
import type { ProcessStateRepository } from './process-state-repository.ts'

/** How often a process says how it is. */
export const stateEveryMs = 2_000
/** A process that has said nothing for this long counts as unknown, and is forgotten after the second time. */
export const stateFreshMs = 10_000
const forgottenAfterMs = 60_000
/** How often forgotten processes are looked for, in reports. */
const reportsPerLook = 30

/** Writes how this process is, again and again, for whoever looks at the gateway: from any process, and after a crash. */
export interface ProcessStates {
  start(): void
  /** Takes the row away. Never rejects. */
  stop(): Promise<void>
}

/** Failures are left alone: the next report comes in a moment, and an old one says that it is old. */
export function createProcessStates(options: {
  repository: ProcessStateRepository
  ownerId: string
  startedAtMs: number
  report: () => ProcessReport
}): ProcessStates {
  const { repository, ownerId, startedAtMs, report } = options
  let timer: Timer | null = null
  let running: Promise<void> | null = null
  let reports = 0

  async function forget(): Promise<void> {
    const { nowMs, processes } = await repository.list()
    const gone = processes.filter(({ seenAtMs }) => nowMs - seenAtMs > forgottenAfterMs)
    await repository.remove(gone.map((process) => process.ownerId))
  }

  async function tell(): Promise<void> {
    await repository.write(ownerId, startedAtMs, report())
    if (reports % reportsPerLook === 0) await forget()
    reports += 1
  }

  const tick = () => {
    running ??= tell()
      .catch(() => undefined)
      .finally(() => {
        running = null
      })
  }

  return {
    start() {
      if (timer !== null) return
      tick()
      timer = setInterval(tick, stateEveryMs)
      timer.unref()
    },
    async stop() {
      if (timer !== null) clearInterval(timer)
      await running
      await repository.remove([ownerId]).catch(() => undefined)
    },
  }
}
