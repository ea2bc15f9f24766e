import { dlopen, FFIType } from 'bun:ffi'

/** Libraries of the systems that have the call, and what each calls the processor time of the thread that asks. */
const clocks = [
  { library: 'libc.so.6', clock: 3 },
  { library: 'libSystem.B.dylib', clock: 16 },
]

/** Seconds and nanoseconds. */
const time = new BigInt64Array(2)

/**
 * Processor time of this thread, in milliseconds: what other programs and other threads do is not in it. The runtime's own
 * `threadCpuUsage`, for systems without the call, goes on in steps of 4 ms where the kernel counts by its ticks, which is as
 * long as many of the turns that are measured.
 */
export const threadMs: () => number = openClock() ?? usedMs

function openClock(): (() => number) | null {
  for (const { library, clock } of clocks) {
    try {
      const { clock_gettime: read } = dlopen(library, {
        clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
      }).symbols
      return () => {
        read(clock, time)
        return Number(time[0]) * 1_000 + Number(time[1]) / 1_000_000
      }
    } catch {
      // Not this system's C library.
    }
  }
  return null
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** What one run costs its thread. What the run before left in memory is collected first and not counted. */
export function costOf(run: () => unknown): number {
  Bun.gc(true)
  const before = threadMs()
  run()
  return threadMs() - before
}
