import { startSimulator } from '../../simulator/server.ts'
import { prepareGateway } from '../story/real-gateway.ts'
import { litellmClients, npmClients, pythonClients } from './clients.ts'
import type { PackageSet } from './packages.ts'

/** A client of audio: its packages, and its file of `programs/`. */
export interface AudioClient {
  name: string
  packages: PackageSet
  program: readonly string[]
  /** Columns that it has no call for. */
  lacks: readonly string[]
}

/** The official clients, and what is most often put before them. */
export const audioClients: readonly AudioClient[] = [
  { name: 'openai', packages: npmClients, program: ['openai-audio.mjs'], lacks: [] },
  { name: 'Python openai', packages: pythonClients, program: ['openai_audio.py'], lacks: [] },
  { name: '@openrouter/sdk', packages: npmClients, program: ['openrouter-audio.mjs'], lacks: ['stream'] },
  { name: 'AI SDK', packages: npmClients, program: ['ai-sdk-audio.mjs'], lacks: ['stream'] },
  { name: 'LiteLLM', packages: litellmClients, program: ['litellm_audio.py'], lacks: ['stream'] },
]

const key = 'proof-audio-key-of-forty-characters-00001'

/** A gateway in a process of its own, before a simulated OpenAI that hears the same words in every sound. */
export interface AudioWorld {
  readonly root: string
  readonly key: string
  stop(): Promise<void>
}

/** Starts both; `stop` ends and removes them. */
export async function startAudioWorld(heard: string): Promise<AudioWorld> {
  const simulator = await startSimulator({ port: 0, quiet: true, seed: 13 })
  const faults = [{ match: { path: '/audio/transcriptions' }, fault: `text=${encodeURIComponent(heard)}` }]
  const set = await fetch(`${simulator.url}/admin/faults`, { method: 'POST', body: JSON.stringify(faults) })
  if (!set.ok) throw new Error(`simulator: ${await set.text()}`)
  const provider = { preset: 'sandbox', base_url: `${simulator.url}/v1`, api_key: 'sandbox' }
  const gateway = prepareGateway({ providers: [provider] })
  await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key, HEADRACE_BOOTSTRAP_CREDITS: '1000' })
  return {
    root: gateway.baseUrl.replace(/\/v1$/, ''),
    key,
    async stop() {
      await gateway.remove()
      await simulator.stop()
    },
  }
}
