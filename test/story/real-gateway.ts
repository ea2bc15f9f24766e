import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const thisRoot = join(import.meta.dir, '../..')
/** A start takes a second; on a machine whose cores are all busy it may take a minute. */
const startMsMax = 60_000

/** A gateway in a separate process, started as a new user would, with its own data folder. */
export interface RealGateway {
  /** Up to and with `/v1`. */
  readonly baseUrl: string
  readonly folder: string
  readonly databasePath: string
  /**
   * Starts the gateway, with at most the given number of open files, and resolves with its output up to when it
   * was ready.
   */
  start(env?: Record<string, string>, openFilesMax?: number): Promise<string>
  /** The memory that it has now, in bytes. */
  residentBytes(): number
  /** The most memory that it had so far, in bytes. */
  peakBytes(): number
  /** Its output since the last start, including its log. */
  printed(): string
  /** Ends it by a signal and resolves once it is gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Sends it a signal that need not end it. */
  signal(name: 'SIGHUP'): void
  /** Runs a command beside it; `interrupt` sends it a signal once it has written a text. */
  run(args: readonly string[], env?: Record<string, string>, interrupt?: Interrupt): Promise<CommandResult>
  /** Ends what runs and removes the folder. */
  remove(): Promise<void>
}

/** The signal for a command, and the text after which it is sent. */
export interface Interrupt {
  signal: 'SIGINT'
  after: string
}

/** The outcome of a command. */
export interface CommandResult {
  code: number
  output: string
  errors: string
}

/**
 * Prepares a folder and a free port; nothing runs yet. `config` becomes its `headrace.config.json`; `root` is the checkout
 * whose program is started, by default this one.
 */
export function prepareGateway(
  config: Record<string, unknown> | null = null,
  root: string = thisRoot,
): RealGateway {
  const launcher = join(root, 'bin/headrace.js')
  const folder = mkdtempSync(join(tmpdir(), 'headrace-story-'))
  const dataFolder = join(folder, 'data')
  mkdirSync(folder, { recursive: true })
  if (config) writeConfig(folder, config)
  const port = freePort()
  let child: ReturnType<typeof spawn> | null = null
  let printed = ''

  const spawn = (args: readonly string[], env: Record<string, string>, openFilesMax?: number) =>
    // Node replaces itself by Bun where it can, so that the signal reaches the gateway itself.
    Bun.spawn([...withOpenFiles(openFilesMax), 'node', launcher, ...args], {
      cwd: folder,
      env: {
        ...strangerEnvironment(),
        TMPDIR: folder,
        HEADRACE_DATA: dataFolder,
        HEADRACE_PORT: String(port),
        ...env,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
  const self: RealGateway = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    folder,
    databasePath: join(dataFolder, 'headrace.db'),
    async start(env = {}, openFilesMax) {
      const started = spawn(['serve'], env, openFilesMax)
      child = started
      printed = ''
      return readUntil(started, 'npx headrace try', (piece) => void (printed += piece))
    },
    residentBytes: () => (child ? memoryOf(child.pid, 'VmRSS') : 0),
    peakBytes: () => (child ? memoryOf(child.pid, 'VmHWM') : 0),
    printed: () => printed,
    async end(signal) {
      if (!child) return
      child.kill(signal)
      await child.exited
      child = null
      await untilFree(port)
    },
    signal(name) {
      if (child) process.kill(child.pid, name)
    },
    async run(args, env = {}, interrupt) {
      const command = spawn(args, env)
      const [output, errors, code] = await Promise.all([
        collect(command.stdout, interrupt, () => command.kill(interrupt?.signal)),
        new Response(command.stderr).text(),
        command.exited,
      ])
      return { code, output, errors }
    },
    async remove() {
      await self.end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return self
}

/** Memory of the gateway itself, which is a child of the launcher where Node cannot replace its process. */
function memoryOf(pid: number, member: 'VmRSS' | 'VmHWM'): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  const status = readFileSync(`/proc/${child || pid}/status`, 'utf8')
  return Number(new RegExp(`^${member}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1_024
}

/** A shell that sets the limit and becomes the program. */
function withOpenFiles(openFilesMax: number | undefined): readonly string[] {
  return openFilesMax === undefined ? [] : ['sh', '-c', `ulimit -n ${openFilesMax}; exec "$0" "$@"`]
}

/** Writes the gateway's configuration file; it is read at the next start. */
export function writeConfig(folder: string, config: Record<string, unknown>): void {
  writeFileSync(join(folder, 'headrace.config.json'), JSON.stringify(config))
}

/** The environment without providers' keys of this machine and without settings of colour. */
function strangerEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME }
}

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  if (port === undefined) throw new Error('no free port')
  return port
}

/** Where Node cannot replace itself the gateway is a child of the launcher, and ends a moment after it was killed. */
async function untilFree(port: number): Promise<void> {
  const endMs = performance.now() + startMsMax
  while (performance.now() < endMs) {
    const isTaken = await fetch(`http://127.0.0.1:${port}/healthz`).then(
      () => true,
      () => false,
    )
    if (!isTaken) return
    await Bun.sleep(20)
  }
  throw new Error(`port ${port} is still taken`)
}

interface Started {
  stdout: ReadableStream<Uint8Array>
  stderr: ReadableStream<Uint8Array>
  exited: Promise<number>
}

/** Reads what a process prints up to a text, and lets the rest go, so that its pipes never fill. */
async function readUntil(started: Started, text: string, onPiece: (piece: string) => void): Promise<string> {
  let errors = ''
  void drain(started.stderr, (piece) => void (errors = (errors + piece).slice(-4_000)))
  let output = ''
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready in time:\n${output}\n${errors}`)), startMsMax)
    void started.exited.then((code) => reject(new Error(`ended with ${code}:\n${output}\n${errors}`)))
    void drain(started.stdout, (piece) => {
      onPiece(piece)
      if (output.includes(text)) return
      output += piece
      if (!output.includes(text)) return
      clearTimeout(timer)
      resolve(output)
    })
  })
}

/** All text of a stream; `act` is called once when the text to wait for has come. */
async function collect(
  stream: ReadableStream<Uint8Array>,
  interrupt: Interrupt | undefined,
  act: () => void,
): Promise<string> {
  let text = ''
  let hasActed = false
  await drain(stream, (piece) => {
    text += piece
    if (hasActed || !interrupt || !text.includes(interrupt.after)) return
    hasActed = true
    act()
  })
  return text
}

async function drain(stream: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of stream) onText(decoder.decode(chunk, { stream: true }))
}
