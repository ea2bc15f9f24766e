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

/** What the work comes to, or null when it takes longer than so many milliseconds. Rejects as the work does until then. */
export function within<T>(work: Promise<T>, waitMs: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const alarm = alarms.set(waitMs, () => resolve(null))
    work.finally(() => alarms.callOff(alarm)).then(resolve, reject)
  })
}

/** Of all waits for work, which nearly always ends before. */
const alarms = new Alarms()
