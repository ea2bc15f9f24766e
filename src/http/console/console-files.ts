import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayError } from '../../core/errors.ts'
import { randomText } from '../../core/ids.ts'
import { type BuiltFile, manifestName } from './console-manifest.ts'
import { createConsoleSource } from './console-source.ts'

/** How long a build may take, and how many former builds stay. */
const buildMs = 60_000
const buildsKept = 4
/** How long a failed build is told again before the next try, unless the source changes. */
const failureKeptMs = 5_000

/** A build of the console: its files by name. */
export interface ConsoleBuild {
  folder: string
  files: ReadonlyMap<string, BuiltFile>
}

/** The console's files for browsers. */
export interface ConsoleFiles {
  /** Whether this installation has a console at all. */
  readonly isThere: boolean
  /**
   * The present build. In a checkout the first call builds it, in a process of its own, and so does a call after a change.
   * Rejects with `gateway_overloaded` and the compiler's message when that fails.
   */
  load(): Promise<ConsoleBuild>
  /** The build that `load` gave last, for what belongs to it; the same as `load` before the first. */
  current(): Promise<ConsoleBuild>
}

/** Where the console is. */
export interface ConsolePlaces {
  /** Its source, which a checkout has. */
  source: string
  /** The file with the versions of its packages. */
  lock: string
  /** A build that came with the package. */
  packaged: string
  /** Where builds of this checkout are kept; a temporary folder where that cannot be written. */
  cache: string
}

/** Files of the source where there is one, else of the package. Nothing is read or built before the first call. */
export function createConsoleFiles(places: ConsolePlaces): ConsoleFiles {
  const hasSource = existsSync(join(places.source, 'index.html'))
  const isPackaged = existsSync(join(places.packaged, manifestName))
  const built = hasSource ? createBuilder(places) : null
  let packaged: Promise<ConsoleBuild> | null = null
  const loadPackaged = () => (packaged ??= readBuild(places.packaged))
  return {
    isThere: hasSource || isPackaged,
    load: () => (built ? built.load() : loadPackaged()),
    current: () => (built ? built.current() : loadPackaged()),
  }
}

function createBuilder(places: ConsolePlaces) {
  const source = createConsoleSource({ folder: places.source, lock: places.lock })
  let signature: string | null = null
  let last: Promise<ConsoleBuild> | null = null
  let failedAtMs = 0
  const load = async (): Promise<ConsoleBuild> => {
    const found = await source.readSignature()
    const isFailureOld = failedAtMs !== 0 && performance.now() - failedAtMs > failureKeptMs
    if (last === null || found !== signature || isFailureOld) {
      signature = found
      failedAtMs = 0
      last = source.readHash().then((name) => findOrBuild(name, places))
      last.catch(() => (failedAtMs = performance.now()))
    }
    return last
  }
  return { load, current: () => last ?? load() }
}

async function findOrBuild(name: string, places: ConsolePlaces): Promise<ConsoleBuild> {
  const cache = await writableFolder(places.cache)
  const folder = join(cache, name)
  if (existsSync(join(folder, manifestName))) return readBuild(folder)
  const unfinished = join(cache, `unfinished-${randomText(12)}`)
  try {
    await runBuild(places.source, unfinished)
    // Another process may have finished the same build meanwhile; then its files are as good.
    await rename(unfinished, folder).catch((error: unknown) => {
      if (!existsSync(join(folder, manifestName))) throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  await removeOld(cache, name)
  return readBuild(folder)
}

/** The folder, made; or a temporary one where it cannot be written. */
async function writableFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true })
    return folder
  } catch {
    const temporary = join(tmpdir(), `headrace-console-${randomText(12)}`)
    await mkdir(temporary, { recursive: true, mode: 0o700 })
    return temporary
  }
}

async function runBuild(source: string, out: string): Promise<void> {
  const program = new URL('./build-process.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, program, source, out], {
    // Nothing of the gateway's own environment: it has keys of providers.
    env: { NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: buildMs,
  })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) === 0) return
  throw new GatewayError(
    'gateway_overloaded',
    `The console could not be built: ${said.trim() || 'its process was stopped'}. In a checkout "npm ci" installs what it needs.`,
  )
}

async function readBuild(folder: string): Promise<ConsoleBuild> {
  const { files } = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as { files: BuiltFile[] }
  return { folder, files: new Map(files.map((file) => [file.name, file])) }
}

/** Removes builds that were made long ago; a gateway of the version before may still give away those of it. */
async function removeOld(cache: string, kept: string): Promise<void> {
  const builds = []
  for (const name of await readdir(cache)) {
    const facts = await stat(join(cache, name)).catch(() => null)
    if (name !== kept && facts !== null) builds.push({ name, madeAtMs: facts.mtimeMs })
  }
  const old = builds.toSorted((left, right) => right.madeAtMs - left.madeAtMs).slice(buildsKept)
  for (const { name } of old) await rm(join(cache, name), { recursive: true, force: true })
}
