import { faultWaitMsMax } from './limits.ts'

/** Waits so long, or until the signal is aborted; never longer than the longest wait a fault may ask for. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, faultWaitMsMax))
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}

/** Lets all other ready work run first, so that each piece of a stream leaves in a separate write. */
export function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
