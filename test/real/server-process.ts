import { runCommand } from '../prove/command.ts'

/** How long a server may take to start, its model included. */
export const startMsMax = 120_000

/** Runs a program to its end. Rejects where it fails. */
export async function run(command: readonly string[]): Promise<void> {
  await outputOf(command)
}

/** What a program prints on its standard output, trimmed. Rejects where it fails. */
export async function outputOf(command: readonly string[]): Promise<string> {
  const { code, output, stdout } = await runCommand(command, { msMax: startMsMax })
  if (code !== 0) throw new Error(`${command[1] ?? command[0]} ended with ${code}: ${output.slice(-300)}`)
  return stdout.trim()
}

/** A program that runs. */
export interface StartedProgram {
  /** The first text on its output that matches. Rejects when it ends, or too much time passes, without. */
  line(pattern: RegExp): Promise<string>
  stop(): Promise<void>
}

/** Starts a program in a folder, with nothing of this environment but its path. */
export function startProgram(
  command: readonly string[],
  folder: string,
  env: Record<string, string> = {},
): StartedProgram {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  let wake: () => void = () => {}
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      output = (output + decoder.decode(chunk, { stream: true })).slice(-20_000)
      wake()
    }
    wake()
  })()
  return {
    async line(pattern) {
      const endMs = performance.now() + startMsMax
      while (performance.now() < endMs) {
        const found = pattern.exec(output)
        if (found) return found[0]
        if (child.exitCode !== null)
          throw new Error(`${command[1] ?? command[0]} ended: ${output.slice(-300)}`)
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), Bun.sleep(1_000)])
      }
      child.kill('SIGKILL')
      throw new Error(`${command[1] ?? command[0]} did not say its address in time`)
    },
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await child.exited
      clearTimeout(timer)
    },
  }
}

/** Waits until an address answers. Rejects where it does not in time. */
export async function untilAnswers(url: string): Promise<void> {
  const endMs = performance.now() + startMsMax
  while (performance.now() < endMs) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isThere) return
    await Bun.sleep(300)
  }
  throw new Error(`${url} did not answer in time`)
}

/** A port of loopback that nothing listens on. */
export function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  if (port === undefined) throw new Error('no free port')
  return port
}
