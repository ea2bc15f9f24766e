import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npmWaitMs } from './bounds.ts'
import { sparePort, start, untilReady, type Running } from './processes.ts'

const packageName = '@portkey-ai/gateway'
const version = '1.15.2'

/** The gateway people use today, on the Node of this machine. */
export interface Peer {
  port: number
  process: Running
  /** Whether it can stream here; 1.15.2 answers 500 to every streamed reply on some versions of Node. */
  canStream: boolean
}

/** Installs the peer into a folder of its own, once, and starts it. Null with the reason when npm cannot. */
export async function startPeer(options: {
  installFolder: string
  logFolder: string
  upstreamPort: number
}): Promise<Peer | { reason: string }> {
  const home = options.installFolder
  const entry = join(home, 'node_modules', packageName, 'build', 'start-server.js')
  if (!existsSync(entry)) {
    const reason = await install(home)
    if (reason !== null) return { reason }
  }
  const port = sparePort()
  const running = start({
    name: 'portkey',
    command: ['node', entry, `--port=${port}`, '--headless'],
    cwd: home,
    env: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
    logFile: join(options.logFolder, 'portkey.log'),
  })
  await untilReady(running, async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0)
  return { port, process: running, canStream: await canStream(port, options.upstreamPort) }
}

/** Headers with which the peer reaches an OpenAI-compatible upstream of ours. */
export function peerHeaders(upstreamPort: number, reply: string): Record<string, string> {
  return {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/${reply}/v1`,
    authorization: 'Bearer bench-upstream-key',
  }
}

async function install(home: string): Promise<string | null> {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
  const npm = Bun.spawn(
    [
      'npm',
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--prefix',
      home,
      `${packageName}@${version}`,
    ],
    {
      cwd: home,
      stdout: 'ignore',
      stderr: 'ignore',
      timeout: npmWaitMs,
    },
  )
  return (await npm.exited) === 0 ? null : `npm could not install ${packageName} ${version}`
}

async function canStream(port: number, upstreamPort: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...peerHeaders(upstreamPort, 'sse-50') },
    body: JSON.stringify({ model: 'sse-50', stream: true, messages: [{ role: 'user', content: 'hello' }] }),
  })
  const text = await response.text()
  return response.ok && text.includes('[DONE]')
}
