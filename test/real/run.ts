/**
 * Asks servers that nobody here wrote, through a gateway in a process of its own: llama.cpp's, Ollama and LiteLLM's proxy, each
 * with a model of random weights or with mocks; faster-whisper, fastkokoro and Piper with weights that packages ship. Starts what
 * this machine has and says what it lacks. `node bin/headrace.js --bun test/real/run.ts [sound | name]`; exits with 1 when a case
 * failed, and with 3 when a server lacked something.
 */
import { createPackages } from '../clients/packages.ts'
import { prepareGateway } from '../story/real-gateway.ts'
import { type AskedGateway, type CaseResult, runCases } from './cases.ts'
import { runHearing } from './hearing.ts'
import { type RealServer, type RunningServer, startServer } from './real-server.ts'
import { realServers } from './servers.ts'
import { openShelf } from './shelf.ts'
import { fasterWhisper, soundServers } from './sound-servers.ts'
import { type Sounds, speakSounds } from './sounds.ts'
import { runSpeaking } from './speaking.ts'

const key = 'proof-real-servers-key-of-forty-characters'
const [wanted] = process.argv.slice(2)
const servers = wanted === 'sound' ? soundServers : realServers
const packages = createPackages()
const shelf = openShelf()
let hasFailed = false
let hasLacked = false

function lack(reason: string): void {
  hasLacked = true
  console.log(`not run, ${reason}`)
}

/** What servers of sound hear and speak, made when the first of them runs. */
const spoken: { sounds: Sounds | string | null } = { sounds: null }

async function runSound(server: RunningServer, gateway: AskedGateway): Promise<CaseResult[]> {
  if (server.models.transcription === null && server.models.speech === null) return []
  const made = (spoken.sounds ??= await speakSounds(packages))
  if (typeof made === 'string') {
    lack(made)
    return []
  }
  const heard = await runHearing(server, gateway, { sounds: made, shelf })
  if (server.models.speech === null) return heard
  const ears = await startServer(fasterWhisper, packages)
  if (typeof ears === 'string') {
    lack(`nobody hears what is spoken: ${ears}`)
    return heard
  }
  try {
    return [...heard, ...(await runSpeaking(server, gateway, { lab: made.lab, server: ears }))]
  } finally {
    await ears.stop()
  }
}

async function prove(server: RealServer, running: RunningServer): Promise<boolean> {
  const gateway = prepareGateway({ providers: [running.provider], fetch_hosts: [shelf.host] })
  try {
    await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
    const asked = { root: gateway.baseUrl.replace(/\/v1$/, ''), key }
    const results = [...(await runCases(running, asked)), ...(await runSound(running, asked))]
    const failed = results.filter(({ failure }) => failure !== null)
    const names = results.map(({ name }) => name).join('; ')
    console.log(`${server.name}: ${results.length - failed.length} of ${results.length} cases (${names})`)
    for (const { name, figure } of results) if (figure !== undefined) console.log(`  ${name}: ${figure}`)
    for (const { name, failure } of failed) console.log(`  FAIL ${name}: ${failure?.slice(0, 400)}`)
    return results.length > 0 && failed.length === 0
  } finally {
    await gateway.remove()
    await running.stop()
  }
}

try {
  for (const server of servers) {
    if (wanted !== undefined && wanted !== 'sound' && wanted !== server.name) continue
    const running = await startServer(server, packages)
    if (typeof running === 'string') lack(`${server.name}: ${running}`)
    else hasFailed = !(await prove(server, running)) || hasFailed
  }
  const { sounds } = spoken
  if (sounds !== null && typeof sounds !== 'string') {
    if (sounds.lacking !== null) lack(sounds.lacking)
    sounds.lab.dispose()
  }
} finally {
  await shelf.stop()
  packages.remove()
}
if (hasFailed) process.exit(1)
process.exit(hasLacked ? 3 : 0)
