/** Waits some milliseconds. When the signal aborts it resolves early; it never rejects. Tests pass their own. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>

/** The machine's timer. It does not keep the process alive. */
export const systemPause: Pause = (ms, signal) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal?.aborted) return Promise.resolve()
  const timer = setTimeout(done, ms)
  timer.unref()
  signal?.addEventListener('abort', done, { once: true })
  function done(): void {
    clearTimeout(timer)
    signal?.removeEventListener('abort', done)
    resolve()
  }
  return promise
}
