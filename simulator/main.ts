import { parseArgs } from 'node:util'
import { isObject } from './json.ts'
import { startSimulator } from './server.ts'

const defaultPort = 4010

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    port: { type: 'string' },
    host: { type: 'string' },
    seed: { type: 'string' },
    help: { type: 'boolean' },
  },
})

if (values.help === true) {
  console.log('Usage: npm run simulator -- [--port 4010] [--host 127.0.0.1] [--seed 1]')
} else {
  const simulator = await startSimulator({
    port: wholeNumber('port', values.port, defaultPort),
    host: values.host ?? '127.0.0.1',
    seed: wholeNumber('seed', values.seed, 1),
  })
  const health = await readHealth(simulator.url)
  console.log(`Simulated OpenAI at ${simulator.url}/v1 (any API key but one that begins with "bad-key")`)
  console.log(`More providers, each with its own faults and counters, at ${simulator.url}/p/NAME/v1`)
  console.log(`Speech: ${health.speech}. Transcription: ${health.transcription}.`)
  console.log(`Faults and counters: ${simulator.url}/admin/faults, ${simulator.url}/admin/counters`)
}

async function readHealth(url: string): Promise<{ speech: string; transcription: string }> {
  const response = await fetch(`${url}/admin/health`)
  const health = await response.json()
  return isObject(health)
    ? { speech: String(health['speech']), transcription: String(health['transcription']) }
    : { speech: 'unknown', transcription: 'unknown' }
}

function wholeNumber(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise
  if (/^\d{1,9}$/.test(value)) return Number(value)
  console.error(`--${name} must be a whole number, got "${value}".`)
  process.exit(2)
}
