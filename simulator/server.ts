import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { serveAdmin } from './admin.ts'
import { audioSlugs } from './audio/index.ts'
import { ApiError, errorBody } from './errors.ts'
import { createMounts, defaultMount, type Mounts } from './mounts.ts'
import { findPrograms, type Programs } from './programs.ts'
import { serveProvider } from './provider.ts'
import { smallLanguageOptions } from './small-language.ts'

/** Where and how to listen. */
export interface SimulatorOptions {
  /** 0 or absent for any free port. */
  port?: number
  /** The address to listen on; loopback by default. */
  host?: string
  /** Makes drawn latencies, faults and ids the same in every run; 1 by default. */
  seed?: number
  /** Print nothing, not even errors of the simulator itself. */
  quiet?: boolean
  /** Further arguments of pocketsphinx, such as a small language of its own. */
  recogniserOptions?: readonly string[]
  /** False: no program of this machine recognises or makes speech; a script and a tone take their place. */
  hasRealSound?: boolean
  /** The recogniser knows only the ten sentences of the small language, and recognises them reliably. */
  knowsFewSentences?: boolean
}

/** A simulator that is listening. */
export interface Simulator {
  /** Without a trailing slash: `http://127.0.0.1:4010`. A provider's base URL adds `/v1`. */
  url: string
  port: number
  /** Closes every connection and frees the port. */
  stop(): Promise<void>
}

const mountedPath = new RegExp(
  `^/p/([A-Za-z0-9._-]{1,64})(/(?:v1(?:beta1?)?|upload|openai|models?|${audioSlugs})(?:/.*)?)$`,
)

/**
 * Starts the simulator. It is served by `node:http`, not by `Bun.serve`: that one holds the end of the headers back until the
 * first byte of the body exists, so it cannot play a provider that stalls after its headers, and it cannot close a socket.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1'
  const mounts = createMounts(options.seed ?? 1)
  const found = findPrograms(options.knowsFewSentences ? smallLanguageOptions : options.recogniserOptions)
  const programs = options.hasRealSound === false ? { ...found, espeak: null, recogniser: null } : found
  const server = createServer((request, response) => {
    route({ request, response, mounts, programs }).catch((error: unknown) => {
      if (options.quiet !== true) process.stderr.write(`simulator: ${Bun.inspect(error)}\n`)
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' })
      response.end(errorBody(new ApiError({ status: 500, type: 'simulator_error', message: String(error) })))
    })
  })
  // A gateway's pooled connections idle for long, and its streams run for long: only the faults may cut them.
  server.keepAliveTimeout = 600_000
  server.requestTimeout = 0
  server.headersTimeout = 0
  server.timeout = 0
  await listening(server, options.port ?? 0, host)
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    stop: () => stopped(server),
  }
}

interface Incoming {
  request: IncomingMessage
  response: ServerResponse
  mounts: Mounts
  programs: Programs
}

async function route({ request, response, mounts, programs }: Incoming): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?')
  if (path.startsWith('/admin/')) return serveAdmin({ request, response, mounts, programs })
  const mounted = mountedPath.exec(path)
  const below = mounted?.[2] ?? path
  const mount = mounts.get(mounted?.[1] ?? defaultMount)
  if (path !== '/' && mount !== undefined)
    return serveProvider({ request, response, mount, path: below, programs })
  const text =
    'A simulated provider: its API is below /v1 and /p/NAME/v1, its own controls are below /admin.\n'
  response.writeHead(path === '/' ? 200 : 503, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function stopped(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
