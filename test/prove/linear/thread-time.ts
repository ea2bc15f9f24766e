/** Processor time of this thread, in milliseconds: what other programs and other threads do is not in it. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** What one run costs its thread. What the run before left in memory is collected first and not counted. */
export function costOf(run: () => unknown): number {
  Bun.gc(true)
  const before = threadMs()
  run()
  return threadMs() - before
}
