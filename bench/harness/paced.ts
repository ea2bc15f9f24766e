import { join } from 'node:path'
import { sparePort, start, untilReady, type Running } from './processes.ts'

/** The upstream that streams at a pace and knows who has left. */
export interface Paced {
  port: number
  process: Running
  /** Streams that are open at this moment. */
  open(): Promise<number>
  /** When the streams with these marks were closed, by the system's clock, in milliseconds; null while open. */
  closedAtMs(marks: readonly string[]): Promise<(number | null)[]>
}

/** Starts `bench/paced-upstream.ts`. */
export async function startPaced(folder: string): Promise<Paced> {
  const port = sparePort()
  const running = start({
    name: 'paced-upstream',
    command: [process.execPath, join(import.meta.dir, '../paced-upstream.ts'), String(port)],
    cwd: folder,
    logFile: join(folder, 'paced-upstream.log'),
  })
  const ask = async (path: string, body?: string) =>
    (
      await fetch(`http://127.0.0.1:${port}${path}`, body === undefined ? {} : { method: 'POST', body })
    ).json()
  await untilReady(running, async () => Number.isInteger(await ask('/open')))
  return {
    port,
    process: running,
    open: async () => Number(await ask('/open')),
    closedAtMs: async (marks) => (await ask('/closed', JSON.stringify(marks))) as (number | null)[],
  }
}
