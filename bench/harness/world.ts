import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startBare, type Bare } from './bare.ts'
import { startHeadrace, type Headrace, type Upstreams } from './headrace.ts'
import { startFloor, startUpstream, type Nginx } from './nginx.ts'
import { startPaced, type Paced } from './paced.ts'

/** Everything that runs during a bench. */
export interface World {
  /** For files of this run; emptied at the start. */
  folder: string
  upstream: Nginx
  paced: Paced
  floor: Nginx
  bare: Bare
  durable: Bare
  headrace: Headrace
  tracked: Headrace
  upstreams: Upstreams
  /** Extra programs of single cases; stopped with the rest. */
  stopLater(program: { stop(): Promise<void> }): void
  stop(): Promise<void>
}

/** Starts upstreams, floor and both accounts of Headrace. */
export async function startWorld(root: string, bunFlags: readonly string[]): Promise<World> {
  const folder = join(root, 'work')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const toStop: { stop(): Promise<void> }[] = []
  const kept = <T extends { process: { stop(): Promise<void> } }>(started: T): T => {
    toStop.push(started.process)
    return started
  }
  const stop = async () => {
    for (const program of toStop.toReversed()) await program.stop()
  }
  try {
    const upstream = kept(await startUpstream(folder))
    const paced = kept(await startPaced(folder))
    const upstreams = { staticPort: upstream.port, pacedPort: paced.port }
    const floor = kept(await startFloor(folder, upstreams))
    const bare = kept(await startBare(folder, upstreams))
    const durable = kept(await startBare(folder, upstreams, { isDurable: true }))
    const headrace = kept(
      await startHeadrace({ name: 'headrace', folder, upstreams, isPrepaid: true, bunFlags }),
    )
    const tracked = kept(
      await startHeadrace({ name: 'headrace-tracked', folder, upstreams, isPrepaid: false }),
    )
    return {
      folder,
      upstream,
      paced,
      upstreams,
      floor,
      bare,
      durable,
      headrace,
      tracked,
      stop,
      stopLater: (program) => toStop.push(program),
    }
  } catch (error) {
    await stop()
    throw error
  }
}
