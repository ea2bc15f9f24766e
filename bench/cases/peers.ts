import { join } from 'node:path'
import { megabytes } from '../harness/figures.ts'
import type { ReplyName } from '../harness/replies.ts'
import { fact, notRun, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { durableTarget, floorTarget, headraceTarget } from '../harness/target.ts'
import type { World } from '../harness/world.ts'
import { peerKinds } from '../peers/kinds.ts'
import { startPeer, type Peer } from '../peers/peer.ts'
import { interleave } from './saturated.ts'
import { saturatedConnections } from '../harness/bounds.ts'

const asked = { 'JSON 1 kB': 'json-1k', 'SSE 50 chunks': 'sse-50' } as const

/**
 * Headrace beside nginx, the durable floor and every other gateway that can be had here: CPU, throughput, the delay at 64
 * connections and memory, for one JSON call and one stream in one piece. Figures without a budget.
 */
export async function peers(world: World, report: Report, scale: Scale): Promise<void> {
  for (const [what, reply] of Object.entries(asked)) await comparePeers(what, reply, { world, report, scale })
}

async function comparePeers(
  what: string,
  reply: ReplyName,
  { world, report, scale }: { world: World; report: Report; scale: Scale },
): Promise<void> {
  const started: Peer[] = []
  try {
    for (const kind of peerKinds) {
      const peer = await startPeer(kind, {
        installFolder: join(world.folder, '..', 'peers'),
        folder: world.folder,
        upstreamPort: world.upstream.port,
        reply,
      })
      if ('reason' in peer) report.rows.push(notRun(`${what}: ${kind.name} ${kind.version}`, peer.reason))
      else started.push(peer)
    }
    const question = { reply, requestBytes: 1000 }
    const own = headraceTarget(world.headrace, reply, 1000)
    const targets = [
      floorTarget(world, question),
      durableTarget(world, question),
      own,
      ...started.map(({ target }) => target),
    ]
    const results = await interleave(targets, {
      ...scale,
      folder: world.folder,
      connections: saturatedConnections,
    })
    const ours = results.get(own.name)?.cpuMicroseconds ?? Number.NaN
    for (const { name } of targets) {
      const result = results.get(name)
      if (result === undefined) continue
      const figures = [
        `${result.cpuMicroseconds.toFixed(0)} µs of CPU`,
        `${(result.cpuMicroseconds / ours).toFixed(2)} × ours`,
        `${Math.round(result.requestsPerSecond)}/s`,
        `p50 ${result.p50Ms.toFixed(1)} ms`,
        megabytes(result.residentBytes),
        ...(result.failures > 0 ? [`${result.failures} failed`] : []),
      ]
      const kind = started.find((peer) => peer.kind.name === name)?.kind
      report.rows.push(fact(`${what}: ${name} ${kind?.version ?? ''}`.trim(), figures.join(', ')))
      report.ratios[`${reply}_of_${name}`.replaceAll('-', '_')] = ours / result.cpuMicroseconds
    }
  } finally {
    for (const { process } of started) await process.stop()
  }
}
