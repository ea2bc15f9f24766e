import { parseArgs } from 'node:util'
import { isObject } from './json.ts'
import { type Simulator, startSimulator } from './server.ts'

const defaultPort = 4010
const usage = 'Usage: npm run simulator -- [--port 4010] [--host 127.0.0.1] [--seed 1]'

/** Runs only the simulator: reads the arguments, starts it, and prints its URLs. Null when it did not start. */
export async function runSimulator(args: readonly string[]): Promise<Simulator | null> {
  const options = parseOptions(args)
  if (options === null) return null
  const simulator = await startSimulator(options).catch((error: unknown) => {
    console.error(`The simulator cannot listen on port ${options.port} of ${options.host}: ${String(error)}`)
    process.exitCode = 1
    return null
  })
  if (simulator === null) return null
  const health = await readHealth(simulator.url)
  console.log(`Simulated OpenAI at ${simulator.url}/v1 (any API key but one that begins with "bad-key")`)
  console.log(`Simulated Anthropic at ${simulator.url}, for a client that adds /v1/messages itself`)
  console.log(`More providers, each with its own faults and counters, at ${simulator.url}/p/NAME/v1`)
  console.log(`Speech: ${health.speech}. Transcription: ${health.transcription}.`)
  console.log(`Faults and counters: ${simulator.url}/admin/faults, ${simulator.url}/admin/counters`)
  return simulator
}

function parseOptions(args: readonly string[]): { port: number; host: string; seed: number } | null {
  try {
    const text = { type: 'string' } as const
    const options = { port: text, host: text, seed: text, help: { type: 'boolean' } } as const
    const { values } = parseArgs({ args: [...args], options })
    if (values.help !== true) {
      const port = wholeNumber('port', values.port, defaultPort)
      return { port, host: values.host ?? '127.0.0.1', seed: wholeNumber('seed', values.seed, 1) }
    }
    console.log(usage)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exitCode = 2
  }
  return null
}

function wholeNumber(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise
  if (/^\d{1,9}$/.test(value)) return Number(value)
  throw new Error(`--${name} must be a whole number, got "${value}".`)
}

async function readHealth(url: string): Promise<{ speech: string; transcription: string }> {
  const response = await fetch(`${url}/admin/health`)
  const health = await response.json()
  if (!isObject(health)) return { speech: 'unknown', transcription: 'unknown' }
  return { speech: String(health['speech']), transcription: String(health['transcription']) }
}

if (import.meta.main) await runSimulator(Bun.argv.slice(2))
