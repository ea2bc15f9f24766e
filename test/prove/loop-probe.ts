import { appendFileSync, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'

/**
 * Preloaded into a program whose event loop is measured: writes down when the loop was late, and for how much of that
 * time its thread was ready to run and another program had the core. The kernel counts that wait for every thread.
 */

/** One line of what the probe writes. */
export interface LateTurn {
  /** Unix milliseconds at its end. */
  atMs: number
  lateMs: number
  /** Of it, waiting for a core that others had. */
  waitedMs: number
  /** What the thread itself ran in that time and the tick before, as the kernel counts it: to about 4 ms. */
  ranMs: number
}

/** The variable with the path of the file that the probe writes. */
export const probeVariable = 'LOOP_PROBE_FILE'

const tickMs = 2
/** Less than this is everyday. */
const notedMs = 4

/** What a probe has written by now. */
export function readProbe(path: string): LateTurn[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'latin1')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => {
    const [atMs = 0, lateMs = 0, waitedMs = 0, ranMs = 0] = line.split(' ').map(Number)
    return { atMs, lateMs, waitedMs, ranMs }
  })
}

function watchLoop(path: string): void {
  writeFileSync(path, '')
  const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const buffer = Buffer.alloc(128)
  // Its first two figures are nanoseconds: how long the thread ran, and how long it was ready and had no core.
  const look = () => {
    const text = buffer.toString('latin1', 0, readSync(schedule, buffer, 0, buffer.length, 0))
    const [ran = 0, waited = 0] = text.split(' ').map(Number)
    return { ranMs: ran / 1e6, waitedMs: waited / 1e6 }
  }
  let lastMs = performance.now()
  let last = look()
  const tick = () => {
    const lateMs = performance.now() - lastMs - tickMs
    const now = look()
    const waitedMs = Math.max(0, Math.min(lateMs, now.waitedMs - last.waitedMs))
    const figures = [lateMs, waitedMs, now.ranMs - last.ranMs].map((figure) => figure.toFixed(2))
    if (lateMs >= notedMs) appendFileSync(path, `${Date.now()} ${figures.join(' ')}\n`)
    last = now
    lastMs = performance.now()
  }
  setInterval(tick, tickMs).unref()
}

const file = process.env[probeVariable]
// Every thread of the program loads it.
if (file !== undefined && Bun.isMainThread) watchLoop(file)
