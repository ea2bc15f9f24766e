import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Installed, Packages, PackageSet } from '../clients/packages.ts'
import { runCommand } from '../prove/command.ts'

/** A server nobody here wrote, as it runs. */
export interface RunningServer {
  /** Its row of the gateway's configuration. */
  provider: Record<string, unknown>
  /** Public ids of what it serves; null for a kind that it does not. */
  models: { text: string | null; embedding: string | null; transcription: string | null }
  /** Whether it holds its answers to a schema. */
  keepsSchemas: boolean
  /** Longest prompt it takes, in tokens; null when it takes any. */
  contextTokens: number | null
  stop(): Promise<void>
}

/** A server, and how it is started; where this machine lacks something, `start` rejects and says what. */
export interface RealServer {
  name: string
  packages: PackageSet | null
  start(folder: string): Promise<RunningServer>
}

/** Where a server's program, models and files are, and what the machine lacks for it. */
export async function startServer(server: RealServer, packages: Packages): Promise<RunningServer | string> {
  const installed: Installed =
    server.packages === null
      ? { folder: mkdtempSync(join(tmpdir(), 'headrace-real-')), reason: null }
      : await packages.install(server.packages)
  if (installed.reason !== null) return installed.reason
  try {
    return await server.start(installed.folder)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const programs = join(import.meta.dir, 'programs')
const startMsMax = 120_000
const none = { text: null, embedding: null, transcription: null }

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

/** faster-whisper behind OpenAI's paths, on a model of random weights. */
const fasterWhisper: RealServer = {
  name: 'faster-whisper',
  packages: {
    name: 'python-faster-whisper',
    registry: 'python',
    versions: { 'faster-whisper-server': '0.0.3', 'faster-whisper': '1.2.1', setuptools: '80.9.0' },
  },
  async start(folder) {
    const model = join(folder, 'random-whisper')
    await run([join(folder, 'bin/python'), join(programs, 'random_whisper.py'), model])
    const config = join(folder, 'models.json')
    // YAML reads JSON too.
    const options = { device: 'cpu', compute_type: 'float32' }
    const models = [{ name: 'whisper-1', path: model }]
    writeFileSync(config, JSON.stringify({ batch_size: 1, model_options: options, models }))
    const port = freePort()
    const flags = ['-f', config, '--host', '127.0.0.1', '--port', String(port)]
    const program = startProgram([join(folder, 'bin/faster-whisper-server'), ...flags], folder)
    const url = `http://127.0.0.1:${port}`
    await untilAnswers(`${url}/openapi.json`).catch(async (error: unknown) => {
      await program.stop()
      throw error
    })
    const id = 'acme/whisper'
    const row = {
      id,
      upstream: 'whisper-1',
      modality: 'transcription',
      prices: { audio_per_minute: '0.006' },
    }
    return {
      provider: { preset: 'custom', id: 'whisper', base_url: `${url}/v1`, discover: false, models: [row] },
      models: { ...none, transcription: id },
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
  fasterWhisper,
]

async function writeRandomModel(folder: string): Promise<string> {
  const model = join(folder, 'random.gguf')
  await run([join(folder, 'bin/python'), join(programs, 'random_model.py'), model])
  return model
}

async function run(command: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, { msMax: startMsMax })
  if (code !== 0) throw new Error(`${command[1] ?? command[0]} ended with ${code}: ${output.slice(-300)}`)
}

interface StartedProgram {
  /** The first text on its output that matches. Rejects when it ends, or too much time passes, without. */
  line(pattern: RegExp): Promise<string>
  stop(): Promise<void>
}

function startProgram(
  command: readonly string[],
  folder: string,
  env: Record<string, string> = {},
): StartedProgram {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  let wake: () => void = () => {}
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      output = (output + decoder.decode(chunk, { stream: true })).slice(-20_000)
      wake()
    }
    wake()
  })()
  return {
    async line(pattern) {
      const endMs = performance.now() + startMsMax
      while (performance.now() < endMs) {
        const found = pattern.exec(output)
        if (found) return found[0]
        if (child.exitCode !== null)
          throw new Error(`${command[1] ?? command[0]} ended: ${output.slice(-300)}`)
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), Bun.sleep(1_000)])
      }
      child.kill('SIGKILL')
      throw new Error(`${command[1] ?? command[0]} did not say its address in time`)
    },
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await child.exited
      clearTimeout(timer)
    },
  }
}

async function untilAnswers(url: string): Promise<void> {
  const endMs = performance.now() + startMsMax
  while (performance.now() < endMs) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isThere) return
    await Bun.sleep(300)
  }
  throw new Error(`${url} did not answer in time`)
}

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  if (port === undefined) throw new Error('no free port')
  return port
}
