import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goWaitMs, npmWaitMs, pipWaitMs } from '../harness/bounds.ts'
import { sparePort, start, untilReady, type Running } from '../harness/processes.ts'
import { isStreamed, requestOf, type ReplyName } from '../harness/replies.ts'
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

/** Starts a peer before the reply and asks it once. The reason when it cannot be installed, started or does not answer. */
export async function startPeer(
  kind: PeerKind,
  options: { installFolder: string; folder: string; upstreamPort: number; reply: ReplyName },
): Promise<Peer | { reason: string }> {
  const home = join(options.installFolder, kind.name)
  mkdirSync(home, { recursive: true })
  const reason = await kind.install(home)
  if (reason !== null) return { reason }
  const { reply } = options
  const folder = join(options.folder, `${kind.name}-${reply}`)
  mkdirSync(folder, { recursive: true })
  const place = {
    home,
    folder,
    port: sparePort(),
    address: `http://127.0.0.1:${options.upstreamPort}/${reply}`,
  }
  const running = start({
    name: kind.name,
    ...kind.commandOf(place),
    cwd: folder,
    logFile: join(folder, 'output.log'),
  })
  const target: Target = {
    name: kind.name,
    port: place.port,
    path: '/v1/chat/completions',
    headers: kind.headersOf?.(place.address) ?? {},
    body: requestOf(kind.model ?? reply, 1000, isStreamed(reply)),
    process: running,
    headrace: null,
  }
  const failure = await whyNoAnswer(target, isStreamed(reply))
  if (failure === null) return { kind, target, process: running }
  await running.stop()
  return { reason: failure }
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

/** Installs an npm package into a folder of its own. */
export function installFromNpm(packageName: string, version: string): PeerKind['install'] {
  return async (home) => {
    if (existsSync(join(home, 'node_modules', packageName))) return null
    writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
    const specifier = `${packageName}@${version}`
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', home]
    const installed = await succeeds(['npm', 'install', ...flags, specifier], home, npmWaitMs)
    return installed ? null : `npm could not install ${specifier}`
  }
}

/** Installs a Python package into an environment of its own. */
export function installFromPyPi(requirement: string, command: string): PeerKind['install'] {
  return async (home) => {
    if (existsSync(join(home, 'bin', command))) return null
    const pip = join(home, 'bin', 'pip')
    const installed =
      (await succeeds(['python3', '-m', 'venv', home], home, pipWaitMs)) &&
      (await succeeds([pip, 'install', '--quiet', '--no-input', requirement], home, pipWaitMs))
    return installed ? null : `pip could not install ${requirement}`
  }
}

/** Builds a Go program of this folder. */
export function buildWithGo(source: string, program: string): PeerKind['install'] {
  return async (home) => {
    if (existsSync(join(home, program))) return null
    const built = await succeeds(['go', 'build', '-o', join(home, program), '.'], source, goWaitMs)
    return built ? null : `go could not build ${program}`
  }
}

async function succeeds(command: readonly string[], cwd: string, timeout: number): Promise<boolean> {
  if (Bun.which(command[0] ?? '') === null) return false
  const child = Bun.spawn([...command], { cwd, stdout: 'ignore', stderr: 'ignore', timeout })
  return (await child.exited) === 0
}
