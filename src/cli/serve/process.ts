/** A supervisor and a terminal both signal the whole process group, so one request to stop often arrives twice. */
const repeatedSignalMs = 1_000

/** Listeners for signals other than the first that ends the process. */
export interface SignalListeners {
  /** A second signal asks for the end. */
  again(): void
  /** SIGHUP, with which operators ask a server to reload its configuration. It ends nothing. */
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

/** Asks the user at the terminal; returns an empty answer when there is no terminal. */
export async function askPerson(question: string): Promise<string> {
  if (!process.stdin.isTTY) return ''
  process.stdout.write(question)
  for await (const line of console) return line
  return ''
}

type Output = NodeJS.WriteStream

/**
 * A closed reader (`headrace credits | head -1`) is not a failure, and a full disk under the log must not end a
 * gateway: output that cannot be written is dropped. The returned set collects the outputs that dropped something for
 * another reason than a closed reader.
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
 * Resolves when all output has left this process; nothing can be written afterwards. Writing to a pipe does not wait,
 * so ending the process earlier would cut a long list after the pipe's first 64 kB. A closed reader is not waited for,
 * and a blocked one no longer than `waitMs`, if given: a list may stay in a pager for hours, but a gateway must stop.
 * An output in `lost` is skipped too, because a full disk never reports its end.
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
