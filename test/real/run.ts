/**
 * Asks servers that nobody here wrote, through a gateway in a process of its own: llama.cpp's, Ollama, LiteLLM's proxy and
 * faster-whisper, each with a model of random weights or with mocks. Starts what this machine has and says what it lacks.
 * `node bin/headrace.js --bun test/real/run.ts [name]`; exits with 1 when a case failed, and with 3 when a server lacked something.
 */
import { createPackages } from '../clients/packages.ts'
import { prepareGateway } from '../story/real-gateway.ts'
import { runCases } from './cases.ts'
import { realServers, startServer, type RealServer, type RunningServer } from './servers.ts'

const key = 'proof-real-servers-key-of-forty-characters'
const wanted = process.argv[2]

async function prove(server: RealServer, running: RunningServer): Promise<boolean> {
  const gateway = prepareGateway({ providers: [running.provider] })
  try {
    await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
    const results = await runCases(running, { root: gateway.baseUrl.replace(/\/v1$/, ''), key })
    const failed = results.filter(({ failure }) => failure !== null)
    const names = results.map(({ name }) => name).join('; ')
    console.log(`${server.name}: ${results.length - failed.length} of ${results.length} cases (${names})`)
    for (const { name, failure } of failed) console.log(`  FAIL ${name}: ${failure?.slice(0, 400)}`)
    return results.length > 0 && failed.length === 0
  } finally {
    await gateway.remove()
    await running.stop()
  }
}

const packages = createPackages()
let hasFailed = false
let hasLacked = false
try {
  for (const server of realServers.filter(({ name }) => wanted === undefined || name === wanted)) {
    const running = await startServer(server, packages)
    if (typeof running === 'string') {
      hasLacked = true
      console.log(`${server.name}: not run, ${running}`)
    } else {
      hasFailed = !(await prove(server, running)) || hasFailed
    }
  }
} finally {
  packages.remove()
}
if (hasFailed) process.exit(1)
process.exit(hasLacked ? 3 : 0)
