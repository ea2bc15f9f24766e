import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goWaitMs, npmWaitMs, pipWaitMs } from '../harness/bounds.ts'
import { sparePort, start, untilReady, type Running } from '../harness/processes.ts'
import { embeddingsRequestOf, isStreamed, requestOf } from '../harness/replies.ts'
import type { Target } from '../harness/target.ts'

/** Another gateway, started as its users start it, with as little switched on as it allows. */
export interface PeerKind {
  name: string
  version: string
  /** What it does not do for a call that Headrace does. */
  leavesOut: string
  /** Installs it once. Null, or why it cannot be had here. */
  install(home: string): Promise<string | null>
  /** The command that serves on a port and sends everything to the address, which ends before `/v1` or the like. */
  commandOf(place: PeerPlace): { command: readonly string[]; env?: Readonly<Record<string, string>> }
  /** Headers of a call. */
  headersOf?(address: string): Readonly<Record<string, string>>
  /** The model that it knows; the reply's name when left out. */
  model?: string
  /** Callers at once that keep its cores busy, where the usual number would wait longer than a round lasts. */
  callers?: number
}

/** What a peer is asked, and where the provider is that it asks. */
export interface PeerQuestion {
  /** The reply, or the pace of a paced stream. */
  reply: string
  requestBytes: number
  upstreamPort: number
}

/** Where a peer is installed, what it may write to, and what it serves. */
export interface PeerPlace {
  home: string
  folder: string
  port: number
  address: string
}

/** A peer that answers one reply. */
export interface Peer {
  kind: PeerKind
  target: Target
  process: Running
}

/** Installs a peer where it is not there yet, once for all that is asked of it. Null, or why it cannot be had here. */
export async function installPeer(kind: PeerKind, installFolder: string): Promise<string | null> {
  const home = join(installFolder, kind.name)
  mkdirSync(home, { recursive: true })
  return kind.install(home)
}

/** Starts an installed peer before the reply and asks it once. The reason when it cannot start or does not answer. */
export async function startPeer(
  kind: PeerKind,
  question: PeerQuestion,
  { installFolder, folder: workFolder }: { installFolder: string; folder: string },
): Promise<Peer | { reason: string }> {
  const home = join(installFolder, kind.name)
  const { reply, upstreamPort } = question
  const folder = join(workFolder, `${kind.name}-${reply}`)
  mkdirSync(folder, { recursive: true })
  const place = { home, folder, port: sparePort(), address: `http://127.0.0.1:${upstreamPort}/${reply}` }
  const running = start({
    name: kind.name,
    ...kind.commandOf(place),
    cwd: folder,
    logFile: join(folder, 'output.log'),
  })
  const target = targetOf(kind, question, { place, running })
  const failure = await whyNoAnswer(target, isStreamed(reply))
  if (failure === null) return { kind, target, process: running }
  await running.stop()
  return { reason: failure }
}

function targetOf(
  kind: PeerKind,
  { reply, requestBytes }: PeerQuestion,
  { place, running }: { place: PeerPlace; running: Running },
): Target {
  const model = kind.model ?? reply
  const isEmbedding = reply.startsWith('embeddings')
  return {
    name: kind.name,
    port: place.port,
    path: isEmbedding ? '/v1/embeddings' : '/v1/chat/completions',
    headers: kind.headersOf?.(place.address) ?? {},
    body: isEmbedding ? embeddingsRequestOf(model) : requestOf(model, requestBytes, isStreamed(reply)),
    process: running,
    headrace: null,
    ...(kind.callers === undefined ? {} : { callers: kind.callers }),
  }
}

/** Asks until it answers: some find their models only after they listen. Null, or why there is no answer. */
async function whyNoAnswer(target: Target, isStream: boolean): Promise<string | null> {
  let last: string | null = null
  try {
    await untilReady(target.process, async () => {
      last = await ask(target, isStream)
      return last === null
    })
    return null
  } catch (error) {
    return last ?? (error instanceof Error ? error.message : String(error))
  }
}

async function ask({ name, port, path, headers, body }: Target, isStream: boolean): Promise<string | null> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const text = await response.text()
  if (!response.ok) return `${name} answers ${response.status} to this call`
  return text.includes(isStream ? '[DONE]' : '"usage"') ? null : `${name} answers something else to this call`
}

/** Installs an npm package into a folder of its own; `overrides` pins packages below it. */
export function installFromNpm(
  packageName: string,
  version: string,
  overrides: Readonly<Record<string, string>> = {},
): PeerKind['install'] {
  return async (home) => {
    if (existsSync(join(home, 'node_modules', packageName))) return null
    const wanted = { private: true, dependencies: { [packageName]: version }, overrides }
    writeFileSync(join(home, 'package.json'), `${JSON.stringify(wanted)}\n`)
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', home]
    return whyFailed(['npm', 'install', ...flags], {
      cwd: home,
      msMax: npmWaitMs,
      what: `npm could not install ${packageName}@${version}`,
    })
  }
}

/** Installs a Python package into an environment of its own. */
export function installFromPyPi(requirement: string, command: string): PeerKind['install'] {
  return async (home) => {
    if (existsSync(join(home, 'bin', command))) return null
    const pip = join(home, 'bin', 'pip')
    const place = { cwd: home, msMax: pipWaitMs }
    const failure = await whyFailed(['python3', '-m', 'venv', home], {
      ...place,
      what: 'python3 could not make an environment',
    })
    if (failure !== null) return failure
    const what = `pip could not install ${requirement}`
    return whyFailed([pip, 'install', '--quiet', '--no-input', requirement], { ...place, what })
  }
}

/** Builds a Go program of this folder; the compiler keeps what has not changed. */
export function buildWithGo(source: string, program: string): PeerKind['install'] {
  return (home) =>
    whyFailed(['go', 'build', '-o', join(home, program), '.'], {
      cwd: source,
      msMax: goWaitMs,
      what: `go could not build ${program}`,
    })
}

/** Runs an installer. Null when it succeeds, else why it does not, `what` when it ran. */
async function whyFailed(
  command: readonly string[],
  { cwd, msMax, what }: { cwd: string; msMax: number; what: string },
): Promise<string | null> {
  const [program = ''] = command
  if (Bun.which(program) === null) return `${program} is not installed`
  const child = Bun.spawn([...command], { cwd, stdio: ['ignore', 'ignore', 'ignore'], timeout: msMax })
  return (await child.exited) === 0 ? null : what
}
