import { homedir } from 'node:os'
import { join } from 'node:path'
import { startBare, type Bare } from '../harness/bare.ts'
import { checkOut, shortCommit } from '../harness/checkout.ts'
import { startHeadrace, type Headrace, type Upstreams } from '../harness/headrace.ts'
import { startFloor, startUpstream, type Nginx } from '../harness/nginx.ts'
import { startPaced } from '../harness/paced.ts'
import { chatReplies, embeddingsRequestOf, isStreamed, requestOf } from '../harness/replies.ts'
import { headraceTarget, type Target } from '../harness/target.ts'
import { peerKinds } from '../peers/kinds.ts'
import { installPeer, type Peer, startPeer } from '../peers/peer.ts'

/** Names of programs that every table has. */
export const names = {
  nginx: 'nginx',
  floor: 'durable floor',
  own: 'Headrace',
  before: 'Headrace before',
} as const

/** The programs of this repository, started and ready, before the bench's upstreams. */
export interface Field {
  folder: string
  /** Where other gateways are installed; kept from run to run. */
  installFolder: string
  /** Why some of them could not be installed, by name. */
  notInstalled: ReadonlyMap<string, string>
  upstreams: Upstreams
  nginx: Nginx
  floor: Bare
  own: Headrace
  /** The version that this one is held against; null where the history does not reach back to it. */
  before: Headrace | null
  /** Ends a program of a part with the rest, when a signal ends the run within that part. */
  stopLater(program: { stop(): Promise<void> }): void
  /** Ends everything that was started. */
  stop(): Promise<void>
}

// Outside the repository, so that its own checks never read what is installed there.
const installFolder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'headrace-bench')

/** One thing that every program is asked. */
export interface Question {
  reply: string
  requestBytes: number
}

/** The programs that answer a question, and those that do not with the reason. */
export interface LineUp {
  targets: readonly Target[]
  missing: ReadonlyMap<string, string>
  /** Ends the programs that were started for this question alone. */
  stop(): Promise<void>
}

/** Installs the other gateways; those that cannot be had with the reason. Takes minutes at the first run. */
export async function installPeers(): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>()
  for (const kind of peerKinds) {
    const reason = await installPeer(kind, installFolder)
    if (reason !== null) reasons.set(kind.name, reason)
  }
  return reasons
}

/** Starts what stays the whole run. */
export async function startField(
  root: string,
  beforeCommit: string,
  notInstalled: Field['notInstalled'],
): Promise<Field> {
  const folder = join(root, 'work')
  const stops: (() => Promise<void>)[] = []
  const kept = <T extends { process: { stop(): Promise<void> } }>(started: T): T => {
    stops.push(() => started.process.stop())
    return started
  }
  const stop = async () => {
    for (const each of stops.toReversed()) await each()
  }
  try {
    const upstream = kept(await startUpstream(folder))
    const paced = kept(await startPaced(folder))
    const upstreams = { staticPort: upstream.port, pacedPort: paced.port }
    const earlier = shortCommit(beforeCommit) === null ? null : checkOut(beforeCommit)
    const options = { folder, upstreams, isPrepaid: true }
    return {
      folder,
      installFolder,
      notInstalled,
      upstreams,
      nginx: kept(await startFloor(folder, upstreams)),
      floor: kept(await startBare(folder, upstreams, { isDurable: true })),
      own: kept(await startHeadrace({ ...options, name: names.own })),
      before:
        earlier === null
          ? null
          : kept(
              await startHeadrace({ ...options, name: names.before, root: earlier, replies: chatReplies }),
            ),
      stopLater: (program) => void stops.push(() => program.stop()),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Every program that can be asked this; other gateways are started for it. */
export async function lineUp(field: Field, question: Question): Promise<LineUp> {
  const { reply, requestBytes } = question
  const targets = [
    passing(names.nginx, field.nginx, question),
    passing(names.floor, field.floor, question),
    ownTarget(field.own, question, names.own),
  ]
  const missing = new Map(field.notInstalled)
  if (field.before === null) missing.set(names.before, 'the history does not reach back to it')
  else if (isKnownBefore(reply)) targets.push(ownTarget(field.before, question, names.before))
  else missing.set(names.before, 'it is not asked this')
  const { staticPort, pacedPort } = field.upstreams
  const upstreamPort = isPaced(reply) ? pacedPort : staticPort
  const started: Peer[] = []
  // All at once, because some take half a minute, most of it waiting.
  const installed = peerKinds.filter(({ name }) => !field.notInstalled.has(name))
  const starting = installed.map(async (kind) => {
    const peer = await startPeer(kind, { reply, requestBytes, upstreamPort }, field)
    if ('reason' in peer) missing.set(kind.name, peer.reason)
    else {
      started.push(peer)
      field.stopLater(peer.process)
    }
  })
  await Promise.all(starting)
  return {
    targets: [...targets, ...started.map(({ target }) => target)],
    missing,
    async stop() {
      await Promise.all(started.map(({ process }) => process.stop()))
    },
  }
}

/** Straight to the upstream of the replies, past every gateway. */
export function directTarget(field: Field, question: Question): Target {
  const { process } = field.nginx
  return passing('direct', { port: field.upstreams.staticPort, process }, question)
}

function passing(name: string, program: Pick<Nginx, 'port' | 'process'>, question: Question): Target {
  const { reply, requestBytes } = question
  const isEmbedding = reply.startsWith('embeddings')
  return {
    name,
    port: program.port,
    path: `/${reply}/v1/${isEmbedding ? 'embeddings' : 'chat/completions'}`,
    headers: { authorization: 'Bearer bench-upstream-key' },
    body: isEmbedding ? embeddingsRequestOf(reply) : requestOf(reply, requestBytes, isStreamed(reply)),
    process: program.process,
    headrace: null,
  }
}

function ownTarget(headrace: Headrace, { reply, requestBytes }: Question, name: string): Target {
  const target = { ...headraceTarget(headrace, reply, requestBytes), name }
  if (!reply.startsWith('embeddings')) return target
  return { ...target, path: '/v1/embeddings', body: embeddingsRequestOf(`bench/${reply}`) }
}

function isPaced(reply: string): boolean {
  return /^\d/.test(reply)
}

function isKnownBefore(reply: string): boolean {
  return isPaced(reply) || chatReplies.some((name) => name === reply)
}
