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
