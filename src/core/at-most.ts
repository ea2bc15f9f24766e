/** Resolves with true when the work has ended, or with false after `waitMs`. Rejects as the work does. */
export async function atMost(waitMs: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: isOver, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), waitMs)
  try {
    return await Promise.race([work.then(() => true), isOver])
  } finally {
    clearTimeout(timer)
  }
}
