import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sparePort } from '../../bench/harness/processes.ts'
import { prepareGateway } from '../story/real-gateway.ts'
import { toneWav } from './gateway.ts'
import { connectSocket } from './socket-client.ts'

/** The programs in front of the gateway, and how they treat the prefix of its paths. */
export type ProxyName = 'nginx' | 'caddy'
export type PrefixUse = 'none' | 'kept' | 'stripped'

/** What a caller observes behind a proxy. */
export interface SeenBehindProxy {
  /** Frames of an event stream that the caller read; the provider sends each only when the one before was read. */
  frames: number
  /** Whether the first sound arrived before the provider sent the second. */
  soundAtOnce: boolean
  /** The same frames, of a turn over a WebSocket. */
  socketFrames: number
  /** The size of the upload at the provider, with its framing. */
  uploadBytes: number
  healthz: number
  metrics: number
}

const patienceMs = 8_000
const key = 'a-key-of-the-deployment-test'
const framesSent = 5
/** Twenty megabytes. */
const uploadSeconds = 655
/** Less than the buffer of any proxy. */
const pieceOfSound = 2_400

/** The code blocks of one language in a document, in order. */
export function codeBlocks(document: string, language: string): string[] {
  return [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text]) => text ?? '',
  )
}

/** Runs a real proxy with a page's configuration in front of the program. */
export async function observeBehindProxy(options: {
  page: string
  proxy: ProxyName
  prefix: PrefixUse
}): Promise<SeenBehindProxy> {
  const { page, proxy, prefix } = options
  const provider = startProvider()
  const gateway = prepareGateway({ providers: [providerConfig(provider.url)] })
  const port = sparePort()
  const place: Place = { folder: gateway.folder, port, gatewayPort: Number(new URL(gateway.baseUrl).port) }
  let running: Bun.Subprocess | null = null
  try {
    await gateway.start({
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_TRUSTED_PROXIES: '127.0.0.1',
      ...(prefix === 'kept' ? { HEADRACE_BASE_PATH: '/ai' } : {}),
    })
    running = starters[proxy](page, prefix, place)
    const base = `${proxy === 'nginx' ? 'https' : 'http'}://127.0.0.1:${port}${prefix === 'none' ? '' : '/ai'}`
    await untilAnswered(`${base}/healthz`)
    return {
      frames: await readFrames(base, provider),
      soundAtOnce: await readSound(base, provider),
      socketFrames: await readSocket(base, provider),
      uploadBytes: await upload(base, provider),
      healthz: (await ask(`${base}/healthz`)).status,
      metrics: (await ask(`${base}/metrics`)).status,
    }
  } finally {
    // A killed nginx leaves its workers behind; a terminated one ends them at once.
    running?.kill(proxy === 'nginx' ? 'SIGTERM' : 'SIGKILL')
    await running?.exited
    await gateway.remove()
    await provider.stop()
  }
}

interface Place {
  folder: string
  port: number
  gatewayPort: number
}

const starters: Readonly<
  Record<ProxyName, (page: string, prefix: PrefixUse, place: Place) => Bun.Subprocess>
> = {
  nginx(page, prefix, { folder, port, gatewayPort }) {
    makeCertificate(folder)
    const [server = '', kept = '', stripped = ''] = codeBlocks(page, 'nginx')
    const locations = { none: null, kept, stripped }[prefix]
    const own = server.indexOf('  location ')
    const text = locations === null ? server : `${server.slice(0, own)}${locations}}\n`
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    )
    const configuration = replaced(text, [
      ['127.0.0.1:8787', `127.0.0.1:${gatewayPort}`],
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['/etc/ssl/ai.example.com', join(folder, 'certificate')],
    ])
    const asRoot = process.getuid?.() === 0 ? 'user root;' : ''
    const file = join(folder, 'nginx.conf')
    writeFileSync(
      file,
      `${asRoot} daemon off; pid ${join(folder, 'nginx.pid')}; events {}\nhttp { access_log off; ${temporary.join(' ')}\n${configuration}}\n`,
    )
    const command = ['nginx', '-e', join(folder, 'nginx-error.log'), '-p', folder, '-c', file]
    return Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] })
  },
  caddy(page, prefix, { folder, port, gatewayPort }) {
    const [none = '', kept = '', stripped = ''] = codeBlocks(page, 'caddyfile')
    const configuration = replaced({ none, kept, stripped }[prefix], [
      ['127.0.0.1:8787', `127.0.0.1:${gatewayPort}`],
      ['ai.example.com {', `http://127.0.0.1:${port} {`],
    ])
    const file = join(folder, 'Caddyfile')
    writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${configuration}`)
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    }
    return Bun.spawn(['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], {
      env,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
  },
}

/** Replaces the parts of the page that a test needs differently; each must occur, otherwise the page has changed. */
function replaced(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the page has no ${from} in its configuration`)
    return changed.replaceAll(from, to)
  }, text)
}

function makeCertificate(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'certificate')
  const made = Bun.spawnSync(
    ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
      .concat(['-subj', '/CN=ai.example.com', '-days', '2'])
      .concat(['-out', `${file}.pem`, '-keyout', `${file}.key`]),
    { stdout: 'ignore', stderr: 'pipe' },
  )
  if (made.exitCode !== 0) throw new Error(`no certificate was made: ${made.stderr}`)
}

function providerConfig(url: string): Record<string, unknown> {
  return {
    preset: 'custom',
    id: 'acme',
    base_url: url,
    api_key: 'x',
    discover: false,
    models: [
      { id: 'acme/chat', modality: 'language', prices: { input_per_million: '1', output_per_million: '2' } },
      { id: 'acme/voice', modality: 'speech', prices: { characters_per_million: '15' } },
      { id: 'acme/ear', modality: 'transcription', prices: { audio_per_minute: '0.006' } },
    ],
  }
}

/** A provider that continues only when the final caller has read everything sent before. */
function startProvider() {
  let onRead = Promise.withResolvers<void>()
  let uploadBytes = 0
  let isPatient = true
  const wasRead = async () => {
    const wasInTime = onRead.promise.then(() => true)
    isPatient = isPatient && (await Promise.race([wasInTime, Bun.sleep(patienceMs).then(() => false)]))
    onRead = Promise.withResolvers()
  }
  async function* frames() {
    onRead = Promise.withResolvers()
    for (let frame = 0; frame < framesSent; frame += 1) {
      const chunk = { id: 'c', choices: [{ index: 0, delta: { content: `${frame}` }, finish_reason: null }] }
      yield Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)
      await wasRead()
    }
    const end = { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    yield Buffer.from(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`)
  }
  async function* sound() {
    onRead = Promise.withResolvers()
    yield new Uint8Array(pieceOfSound)
    await wasRead()
    yield new Uint8Array(pieceOfSound)
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = await request.arrayBuffer()
      if (pathname.endsWith('/audio/transcriptions')) {
        uploadBytes = body.byteLength
        return Response.json({ text: 'heard' })
      }
      if (pathname.endsWith('/audio/speech'))
        return new Response(sound(), { headers: { 'content-type': 'audio/pcm' } })
      return new Response(frames(), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    read: () => onRead.resolve(),
    /** Whether everything since the last check was read in time. */
    wasPatient() {
      const was = isPatient
      isPatient = true
      return was
    },
    uploadBytes: () => uploadBytes,
    stop: () => server.stop(true),
  }
}

type Provider = ReturnType<typeof startProvider>

async function readFrames(base: string, provider: Provider): Promise<number> {
  const messages = [{ role: 'user', content: 'hi' }]
  const response = await ask(`${base}/v1/chat/completions`, { model: 'acme/chat', stream: true, messages })
  let text = ''
  let seen = 0
  for await (const piece of response.body ?? []) {
    text += new TextDecoder().decode(piece)
    for (; text.includes(`"content":"${seen}"`); seen += 1) provider.read()
  }
  // When a proxy gathered frames, they arrive after the provider's time limit.
  return provider.wasPatient() && text.includes('[DONE]') ? seen : 0
}

async function readSocket(base: string, provider: Provider): Promise<number> {
  const client = await connectSocket(`${base}/v1/responses`, { authorization: `Bearer ${key}` })
  client.send({ type: 'response.create', model: 'acme/chat', input: 'hi' })
  let seen = 0
  for (let event = await client.next(); event.type !== 'response.completed'; event = await client.next()) {
    if (event.type !== 'response.output_text.delta' || event['delta'] !== `${seen}`) continue
    seen += 1
    provider.read()
  }
  client.close(1000)
  const { code } = await client.closed
  return provider.wasPatient() && code === 1000 ? seen : 0
}

async function readSound(base: string, provider: Provider): Promise<boolean> {
  const asked = { model: 'acme/voice', voice: 'any', input: 'Hello there.' }
  const response = await ask(`${base}/v1/audio/speech`, asked)
  for await (const _ of response.body ?? []) provider.read()
  return provider.wasPatient() && response.status === 200
}

async function upload(base: string, provider: Provider): Promise<number> {
  const form = new FormData()
  form.set('model', 'acme/ear')
  form.set('file', new File([toneWav(uploadSeconds)], 'long.wav', { type: 'audio/wav' }))
  const response = await ask(`${base}/v1/audio/transcriptions`, form)
  await response.body?.cancel()
  return response.status === 200 ? provider.uploadBytes() : 0
}

/** Sends a request through the proxy, whose certificate is not signed. */
function ask(url: string, body?: object): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  const isForm = body instanceof FormData
  if (body !== undefined && !isForm) headers['content-type'] = 'application/json'
  return fetch(url, {
    headers,
    tls: { rejectUnauthorized: false },
    ...(body === undefined ? {} : { method: 'POST', body: isForm ? body : JSON.stringify(body) }),
  })
}

async function untilAnswered(url: string): Promise<void> {
  for (const endMs = performance.now() + patienceMs; performance.now() < endMs; await Bun.sleep(50)) {
    const status = await ask(url).then(
      ({ status: given }) => given,
      () => 0,
    )
    if (status === 200) return
  }
  throw new Error(`${url} was never answered through the proxy`)
}
