import { startBare, type Bare } from './bare.ts'
import { startHeadrace, type Headrace, type Upstreams } from './headrace.ts'
import { startUpstream } from './nginx.ts'
import type { ReplyName } from './replies.ts'

/** Which gateway is started: this checkout's with its usual settings where members are left out. */
export interface Started {
  /** The checkout whose program it is. */
  root?: string
  /** The replies that it has providers for; an old version may know some alone. */
  replies?: readonly ReplyName[]
  /** Members of the configuration file besides its providers. */
  settings?: Readonly<Record<string, unknown>>
}

/** Starts programs that are compared with each other, all before one upstream. */
export interface Starter {
  gateway(name: string, started?: Started): Promise<Headrace>
  /** The proxy that copies both bodies and does nothing else. */
  copy(): Promise<Bare>
}

/** Runs `use` beside the bench's upstream, then stops the upstream and everything that `use` started. */
export async function beside<T>(folder: string, use: (start: Starter) => Promise<T>): Promise<T> {
  const stops: (() => Promise<void>)[] = []
  const stoppedLater = <P extends Bare | Headrace>(program: P): P => {
    stops.push(() => program.process.stop())
    return program
  }
  try {
    const upstream = await startUpstream(folder)
    stops.push(() => upstream.process.stop())
    // Nothing is asked of the paced upstream here; its models only stand in the configuration.
    const upstreams: Upstreams = { staticPort: upstream.port, pacedPort: upstream.port }
    return await use({
      gateway: async (name, started = {}) =>
        stoppedLater(await startHeadrace({ ...started, name, folder, upstreams, isPrepaid: true })),
      copy: async () => stoppedLater(await startBare(folder, upstreams)),
    })
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}
