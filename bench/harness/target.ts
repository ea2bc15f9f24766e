import type { World } from './world.ts'
import { callerKey, type Headrace } from './headrace.ts'
import type { Running } from './processes.ts'
import { embeddingsRequestOf, isStreamed, messagesRequestOf, requestOf, type ReplyName } from './replies.ts'

/** One request to one program, always the same. */
export interface Target {
  name: string
  port: number
  path: string
  headers: Readonly<Record<string, string>>
  body: string
  process: Running
  /** The Headrace behind it, whose ledger is read afterwards; null for the others. */
  headrace: Headrace | null
  /** Callers at once that keep it busy, where it is so slow that the usual number would all wait in it. */
  callers?: number
}

/** What is asked of every program: which reply, by a request of which size. */
export interface Question {
  reply: ReplyName
  requestBytes: number
}

/** Straight to the upstream, past every gateway. */
export function directTarget(world: World, question: Question): Target {
  return {
    ...passing(world, question),
    name: 'direct',
    port: world.upstream.port,
    process: world.upstream.process,
  }
}

/** Through nginx. */
export function floorTarget(world: World, question: Question): Target {
  return { ...passing(world, question), name: 'nginx', port: world.floor.port, process: world.floor.process }
}

/** Through a proxy on the same runtime that does nothing else. */
export function bareTarget(world: World, question: Question): Target {
  return { ...passing(world, question), name: 'bare Bun', port: world.bare.port, process: world.bare.process }
}

/** Through the same proxy, which also parses both bodies and keeps what the call used. */
export function durableTarget(world: World, question: Question): Target {
  const { port, process } = world.durable
  return { ...passing(world, question), name: 'bare Bun, durable', port, process }
}

function passing(
  _world: World,
  { reply, requestBytes }: Question,
): Omit<Target, 'name' | 'port' | 'process'> {
  return {
    path: `/${reply}/v1/chat/completions`,
    headers: { authorization: 'Bearer bench-upstream-key' },
    body: requestOf(reply, requestBytes, isStreamed(reply)),
    headrace: null,
  }
}

/** Through Headrace, by model name. */
export function headraceTarget(headrace: Headrace, model: string, requestBytes: number): Target {
  return {
    name: headrace.process.name,
    port: headrace.port,
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${callerKey}` },
    body: requestOf(`bench/${model}`, requestBytes, isStreamed(model)),
    process: headrace.process,
    headrace,
  }
}

/** The same by a caller of messages, for which both the request and the answer of a custom upstream are translated. */
export function messagesTarget(headrace: Headrace, model: ReplyName, requestBytes: number): Target {
  const chat = headraceTarget(headrace, model, requestBytes)
  return { ...chat, path: '/v1/messages', body: messagesRequestOf(chat.body) }
}

/** One embedding through Headrace. */
export function embeddingsTarget(headrace: Headrace): Target {
  const chat = headraceTarget(headrace, 'embeddings-1536', 1000)
  return { ...chat, path: '/v1/embeddings', body: embeddingsRequestOf('bench/embeddings-1536') }
}
