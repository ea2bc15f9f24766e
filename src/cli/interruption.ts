/** The user's wish to stop: Ctrl-C, or a closed terminal. */
export interface Interruption {
  readonly signal: AbortSignal
  /** Stops listening; earlier handlers get the signals again. */
  stop(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Listens for signals until stopped. A second signal ends the process in the usual way. */
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
