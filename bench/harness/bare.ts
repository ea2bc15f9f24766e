import { join } from 'node:path'
import { sparePort, start, untilReady, type Running } from './processes.ts'

/** The runtime's own floor. */
export interface Bare {
  port: number
  process: Running
}

/** Starts `bench/bare-proxy.ts`. */
export async function startBare(
  folder: string,
  upstreams: { staticPort: number; pacedPort: number },
): Promise<Bare> {
  const port = sparePort()
  const running = start({
    name: 'bare-bun',
    command: [
      process.execPath,
      join(import.meta.dir, '../bare-proxy.ts'),
      ...[port, upstreams.staticPort, upstreams.pacedPort].map(String),
    ],
    cwd: folder,
    logFile: join(folder, 'bare-bun.log'),
  })
  await untilReady(running, async () => (await fetch(`http://127.0.0.1:${port}/`)).ok)
  return { port, process: running }
}
