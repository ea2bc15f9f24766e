import { availableParallelism } from 'node:os'

/** Keeps a core busy until its parent is gone, or the time is over. */
const spin = `
  const { ppid } = process
  const endMs = performance.now() + Number(process.argv[1])
  while (performance.now() < endMs && process.ppid === ppid) {}
`

/** Runs `work` while every core of the machine is busy. */
export async function withBusyCores<T>(msMax: number, work: () => Promise<T>): Promise<T> {
  const spinners = Array.from({ length: availableParallelism() }, () =>
    Bun.spawn([process.execPath, '-e', spin, String(msMax)], { stdio: ['ignore', 'ignore', 'ignore'] }),
  )
  try {
    return await work()
  } finally {
    for (const spinner of spinners) spinner.kill('SIGKILL')
  }
}

/** Stops and resumes a process again and again until it ends, like an overloaded machine does. */
export async function starve(child: Bun.Subprocess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGSTOP')
    await Bun.sleep(60)
    child.kill('SIGCONT')
    await Bun.sleep(7)
  }
}
