import { startBare, type Bare } from './bare.ts'
import { startHeadrace, type Headrace, type Upstreams } from './headrace.ts'
import { startUpstream } from './nginx.ts'
import type { ReplyName } from './replies.ts'

/** Starts programs that are compared with each other, all before one upstream. */
export interface Starter {
  /** A gateway, by name; of another checkout when a root is given, which may know some of the replies alone. */
  gateway(name: string, root?: string, replies?: readonly ReplyName[]): Promise<Headrace>
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
      gateway: async (name, root, replies) =>
        stoppedLater(
          await startHeadrace({
            name,
            folder,
            upstreams,
            isPrepaid: true,
            ...(root ? { root } : {}),
            ...(replies ? { replies } : {}),
          }),
        ),
      copy: async () => stoppedLater(await startBare(folder, upstreams)),
    })
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}
