import { Alarms } from '../core/alarms.ts'

/** Waits so many milliseconds, or until the signal is aborted. Never rejects. */
export async function sleepUnless(waitMs: number, signal: AbortSignal): Promise<void> {
  if (waitMs <= 0 || signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = () => resolve()
  const timer = setTimeout(wake, waitMs)
  signal.addEventListener('abort', wake, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', wake)
}

/**
 * The result of the work, or null when the work takes longer than `waitMs`. Rejects when the work rejects before that.
 */
export function within<T>(work: Promise<T>, waitMs: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const alarm = alarms.set(waitMs, () => resolve(null))
    work.finally(() => alarms.callOff(alarm)).then(resolve, reject)
  })
}

/** Shared by all waits, because the work nearly always ends before its alarm. */
const alarms = new Alarms()
