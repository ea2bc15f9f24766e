/** Resolves when the work has ended, with true, or after that time, with false. Rejects as the work does. */
export async function atMost(waitMs: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: isOver, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), waitMs)
  try {
    return await Promise.race([work.then(() => true), isOver])
  } finally {
    clearTimeout(timer)
  }
}
