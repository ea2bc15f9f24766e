import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../prove/command.ts'
import { none, type RealServer } from './real-server.ts'
import { freePort, run, startMsMax, startProgram, untilAnswers } from './server-process.ts'
import { soundServers } from './sound-servers.ts'

const programs = join(import.meta.dir, 'programs')

/** llama.cpp's own server, on a model of random weights. */
function llamaCpp(kind: 'text' | 'embedding'): RealServer {
  return {
    name: kind === 'text' ? 'llama.cpp' : 'llama.cpp, embeddings',
    packages: {
      name: 'python-llamacpp',
      registry: 'python',
      versions: { xllamacpp: '2026.10.11549', gguf: '0.19.0', numpy: '2.4.6' },
    },
    async start(folder) {
      const model = await writeRandomModel(folder)
      const python = join(folder, 'bin/python')
      const flags = kind === 'embedding' ? ['embedding'] : []
      const program = startProgram([python, join(programs, 'llama_server.py'), model, ...flags], folder)
      const url = await program.line(/http:\/\/127\.0\.0\.1:\d+/)
      // Its listing has the path of the file, which the operator names as he likes.
      const id = `acme/random-${kind}`
      return {
        provider: {
          preset: 'llamacpp',
          id: `llamacpp-${kind}`,
          base_url: `${url}/v1`,
          discover: false,
          models: [
            {
              id,
              upstream: model,
              context_length: 2048,
              ...(kind === 'embedding' ? { modality: kind } : {}),
            },
          ],
        },
        models: { ...none, [kind]: id },
        keepsSchemas: kind === 'text',
        contextTokens: 2048,
        stop: program.stop,
      }
    },
  }
}

/** Ollama, on the same model; only where its program is on the path. */
const ollama: RealServer = {
  name: 'Ollama',
  packages: {
    name: 'python-llamacpp',
    registry: 'python',
    versions: { xllamacpp: '2026.10.11549', gguf: '0.19.0', numpy: '2.4.6' },
  },
  async start(folder) {
    const path = Bun.which('ollama')
    if (path === null) throw new Error('the program ollama is not on the path')
    const model = await writeRandomModel(folder)
    const port = freePort()
    const home = mkdtempSync(join(tmpdir(), 'headrace-ollama-'))
    const env = { HOME: home, OLLAMA_HOST: `127.0.0.1:${port}`, OLLAMA_MODELS: join(home, 'models') }
    const program = startProgram([path, 'serve'], home, env)
    const stop = async () => {
      await program.stop()
      rmSync(home, { recursive: true, force: true })
    }
    try {
      const url = `http://127.0.0.1:${port}`
      await untilAnswers(`${url}/api/version`)
      const modelfile = join(home, 'Modelfile')
      writeFileSync(modelfile, `FROM ${model}\nTEMPLATE "{{ .Prompt }}"\n`)
      const { code, output } = await runCommand([path, 'create', 'tiny-random', '-f', modelfile], {
        env,
        msMax: startMsMax,
      })
      if (code !== 0) throw new Error(`ollama create ended with ${code}: ${output.slice(-300)}`)
      return {
        // What it serves is found out by asking it.
        provider: { preset: 'ollama', id: 'ollama', base_url: `${url}/v1` },
        models: { ...none, text: 'ollama/tiny-random:latest' },
        keepsSchemas: false,
        contextTokens: null,
        stop,
      }
    } catch (error) {
      await stop()
      throw error
    }
  },
}

/** LiteLLM's proxy, whose answers are its own mocks. */
const litellm: RealServer = {
  name: "LiteLLM's proxy",
  packages: { name: 'python-litellm-proxy', registry: 'python', versions: { 'litellm[proxy]': '1.106.2' } },
  async start(folder) {
    const port = freePort()
    const flags = ['--port', String(port), '--host', '127.0.0.1', '--telemetry', 'False']
    const config = join(programs, 'litellm.yaml')
    const env = { HOME: folder, LITELLM_LOCAL_MODEL_COST_MAP: 'True' }
    const program = startProgram([join(folder, 'bin/litellm'), '--config', config, ...flags], folder, env)
    const url = `http://127.0.0.1:${port}`
    await untilAnswers(`${url}/health/liveliness`).catch(async (error: unknown) => {
      await program.stop()
      throw error
    })
    return {
      provider: {
        preset: 'custom',
        id: 'litellm',
        base_url: `${url}/v1`,
        api_key: 'sk-litellm-proof',
        models: [
          {
            id: 'mock-chat',
            prices: { input_per_million: '1', output_per_million: '2' },
            context_length: 8192,
          },
        ],
      },
      models: { ...none, text: 'mock-chat' },
      keepsSchemas: false,
      contextTokens: null,
      stop: program.stop,
    }
  },
}

/** Every server, in the order of the table. */
export const realServers: readonly RealServer[] = [
  llamaCpp('text'),
  llamaCpp('embedding'),
  ollama,
  litellm,
  ...soundServers,
]

async function writeRandomModel(folder: string): Promise<string> {
  const model = join(folder, 'random.gguf')
  await run([join(folder, 'bin/python'), join(programs, 'random_model.py'), model])
  return model
}
