/** A person's wish to leave: Ctrl-C, or a terminal that closes. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Leaves the signals to whoever had them before. */
  stop(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Listens for signals until stopped. The second one ends the process as it would without us. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController()
  const stop = () => {
    for (const name of signals) process.off(name, interrupt)
  }
  const interrupt = () => {
    stop()
    controller.abort()
  }
  for (const name of signals) process.on(name, interrupt)
  return { signal: controller.signal, stop }
}
