/** A supervisor and a terminal both signal the whole group, so the same request to stop often comes twice. */
const repeatedSignalMs = 1_000

/** Resolves with the first signal that asks the process to end; `again` is told when somebody insists. */
export function untilSignal(again: () => void): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let firstAtMs: number | null = null
  const onSignal = (signal: string) => {
    if (firstAtMs === null) {
      firstAtMs = performance.now()
      resolve(signal)
    } else if (performance.now() - firstAtMs > repeatedSignalMs) again()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, onSignal)
  return promise
}

/** Asks whoever sits at the terminal; an empty answer when nobody does. */
export async function askPerson(question: string): Promise<string> {
  if (process.stdin.isTTY !== true) return ''
  process.stdout.write(question)
  for await (const line of console) return line
  return ''
}
