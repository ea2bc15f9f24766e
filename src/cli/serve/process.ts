/** A supervisor and a terminal both signal the whole group, so the same request to stop often comes twice. */
const repeatedSignalMs = 1_000

/** Who is told of signals besides the one that ends the process. */
export interface SignalListeners {
  /** Somebody insists on the end. */
  again(): void
  /** SIGHUP, by which operators ask a server to read its configuration again. It ends nothing. */
  reload(): void
}

/** Resolves with the first signal that asks the process to end. */
export function untilSignal({ again, reload }: SignalListeners): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let firstAtMs: number | null = null
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstAtMs === null) {
      firstAtMs = performance.now()
      resolve(signal)
    } else if (performance.now() - firstAtMs > repeatedSignalMs) again()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGQUIT'] as const) process.on(signal, onSignal)
  process.on('SIGHUP', reload)
  return promise
}

/** Asks whoever sits at the terminal; an empty answer when nobody does. */
export async function askPerson(question: string): Promise<string> {
  if (!process.stdin.isTTY) return ''
  process.stdout.write(question)
  for await (const line of console) return line
  return ''
}

type Output = NodeJS.WriteStream

/**
 * A reader that has gone (`headrace credits | head -1`) is nobody's failure, and a full disk below the log must not end a
 * gateway: what cannot be written is lost. The set is filled with the outputs that lost something to anything but a reader
 * who left.
 */
export function outliveReaders(): ReadonlySet<Output> {
  const lost = new Set<Output>()
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') lost.add(stream)
    })
  }
  return lost
}

/**
 * Resolves when everything written has left this process; nothing can be written after it. Writing to a pipe does not wait, and ending the process before
 * would cut a long list after the pipe's first 64 kB. A reader that has gone is not waited for, and one that is stuck no
 * longer than `waitMs` where it is given: a list may stand in a pager for hours, but a gateway was asked to stop. Nor is
 * an output in `lost`: a full disk tells its end to nobody.
 */
export async function flushOutput(
  waitMs: number | null = null,
  lost: ReadonlySet<Output> = new Set(),
): Promise<void> {
  const timeout = Promise.withResolvers<void>()
  if (waitMs !== null) setTimeout(timeout.resolve, waitMs).unref()
  for (const stream of [process.stdout, process.stderr]) {
    if (lost.has(stream)) continue
    const written = new Promise<void>((resolve) => {
      stream.once('error', () => resolve())
      // The callback of an empty write comes too early here; the one of `end` does not.
      stream.end(() => resolve())
    })
    await Promise.race([written, timeout.promise])
  }
}
