import { join } from 'node:path'
import { sparePort, start, untilReady, type Running } from './processes.ts'

/** The runtime's own floor. */
export interface Bare {
  port: number
  process: Running
}

/** Starts `bench/bare-proxy.ts`; `isDurable` makes it keep what each call used. */
export async function startBare(
  folder: string,
  upstreams: { staticPort: number; pacedPort: number },
  { isDurable = false } = {},
): Promise<Bare> {
  const name = isDurable ? 'bare-bun-durable' : 'bare-bun'
  const port = sparePort()
  const running = start({
    name,
    command: [
      process.execPath,
      join(import.meta.dir, '../bare-proxy.ts'),
      ...[port, upstreams.staticPort, upstreams.pacedPort].map(String),
      ...(isDurable ? [join(folder, `${name}.db`)] : []),
    ],
    cwd: folder,
    logFile: join(folder, `${name}.log`),
  })
  await untilReady(running, async () => (await fetch(`http://127.0.0.1:${port}/`)).ok)
  return { port, process: running }
}
