/**
 * The most processor time, in milliseconds, that this thread spent between two turns of its event loop while `work`
 * ran. Elapsed time would be wrong: on a busy machine a thread also waits for a core.
 */
export async function longestBusyMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0
  let last = process.threadCpuUsage()
  const look = () => {
    const { user, system } = process.threadCpuUsage(last)
    longestMs = Math.max(longestMs, (user + system) / 1_000)
    last = process.threadCpuUsage()
  }
  const probe = setInterval(look, 1)
  await work()
  look()
  clearInterval(probe)
  return longestMs
}
