import { join } from 'node:path'

/** A simulator that shares no processor time with what measures it, but that of the machine. */
export interface SimulatorProcess {
  url: string
  stop(): void
}

const simulator = join(import.meta.dir, '../../simulator/main.ts')

/** Starts the simulator in a process of its own, on any free port. */
export async function startSimulatorProcess(): Promise<SimulatorProcess> {
  const child = Bun.spawn([process.execPath, simulator, '--port', '0'], { stdout: 'pipe', stderr: 'inherit' })
  let printed = ''
  for await (const piece of child.stdout) {
    printed += Buffer.from(piece).toString()
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? []
    if (url !== undefined) return { url, stop: () => child.kill() }
  }
  throw new Error('the simulator did not start')
}
