import { builtGateway } from './built-gateway.ts'
import type { CrashPlan } from './crash-plan.ts'

const startMsMax = 120_000

/** One real process of the gateway, which may end at any moment. */
export interface GatewayProcess {
  /** Up to and with `/v1`; empty when the process ended before it listened. */
  readonly baseUrl: string
  readonly pid: number
  readonly isAlive: boolean
  /** Resolves with the signal that ended it, or null after an orderly stop. */
  readonly ended: Promise<string | null>
  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void
  /** The end of what it wrote. */
  output(): string
}

/**
 * Starts a gateway and resolves once it listens, or has ended: a process may be made to crash before it listens. Rejects
 * when it ends by itself or does neither in time.
 */
export async function startGatewayProcess(
  env: Record<string, string>,
  plan: Partial<CrashPlan> = {},
): Promise<GatewayProcess> {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env
  const child = Bun.spawn([process.execPath, '--no-env-file', '--no-orphans', await builtGateway()], {
    env: {
      PATH,
      HOME,
      TMPDIR,
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
      // Lives of a few seconds: what the second compiler costs, its code never saves.
      BUN_JSC_useDFGJIT: '0',
      ...env,
      HEADRACE_TEST_CRASH: JSON.stringify(plan),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const state = { isAlive: true, output: '' }
  const keep = (text: string) => void (state.output = (state.output + text).slice(-8_000))
  const ended = child.exited.then(() => {
    state.isAlive = false
    return child.signalCode === null ? null : String(child.signalCode)
  })
  void drain(child.stderr, keep)
  const baseUrl = await readUrl(child.stdout, ended, keep)
  // Made to crash before it listened, which is no failure; not listening in time is one.
  if (baseUrl === null && !(plan.armed && !state.isAlive && child.signalCode === 'SIGKILL')) {
    child.kill('SIGKILL')
    throw new Error(`a gateway did not start:\n${state.output}`)
  }
  return {
    baseUrl: baseUrl ?? '',
    pid: child.pid,
    ended,
    get isAlive() {
      return state.isAlive
    },
    signal: (name) => child.kill(name),
    output: () => state.output,
  }
}

/** The address in the line `ready …`, or null when the process ended or took too long. */
function readUrl(
  stream: ReadableStream<Uint8Array>,
  ended: Promise<unknown>,
  onText: (text: string) => void,
): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), startMsMax)
    let output = ''
    void drain(stream, (text) => {
      onText(text)
      output = (output + text).slice(-100_000)
      const url = /^ready (\S+)\n/m.exec(output)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    void ended.finally(() => {
      clearTimeout(timer)
      resolve(null)
    })
  })
}

async function drain(stream: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of stream) onText(decoder.decode(chunk, { stream: true }))
}
