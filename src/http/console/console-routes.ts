import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import type { HttpRoute } from '../pipeline.ts'
import type { ConsoleBuild } from './console-files.ts'
import type { BuiltFile } from './console-manifest.ts'

const common = { method: 'GET', group: 'catalog', access: 'public' } as const
const shellName = 'index.html'
const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
}

/** What every answer of the console allows: files of this gateway, and no script or style inside a page. */
const safety = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; require-trusted-types-for 'script'; connect-src 'self'; media-src 'self' blob:; font-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

type Needed = Pick<HttpDependencies, 'consoleFiles' | 'basePath'>

/** The console below `/ui/`: its files, and its page at every other path, because it has its own routes there. */
export function consoleRoutes(dependencies: Needed): HttpRoute[] {
  return [
    {
      ...common,
      path: '/ui',
      name: 'console',
      // Routes are found without the last slash, but addresses in the page are below it.
      handle: forOwnPages((request) =>
        new URL(request.url).pathname.endsWith('/')
          ? safely(() => showShell(request, dependencies))
          : redirectToConsole(dependencies),
      ),
    },
    {
      ...common,
      path: '/ui/*',
      name: 'console',
      handle: forOwnPages((request) => safely(() => showPath(request, dependencies))),
    },
  ]
}

/** Without the headers for pages of other origins: those have nothing to read here, and each file would carry them. */
function forOwnPages(show: (request: Request) => Response | Promise<Response>): HttpRoute['handle'] {
  return async (exchange) => {
    const response = await show(exchange.request)
    response.headers.set('x-request-id', exchange.requestId)
    exchange.hasCommonHeaders = true
    return response
  }
}

/** To the console's page. */
export function redirectToConsole({ basePath }: Pick<Needed, 'basePath'>): Response {
  return new Response(null, { status: 302, headers: { location: `${basePath}/ui/`, ...safety } })
}

async function showPath(request: Request, dependencies: Needed): Promise<Response> {
  const { pathname } = new URL(request.url)
  const name = pathname.slice(dependencies.basePath.length + '/ui/'.length)
  const isFile = name.startsWith('assets/') || /\.[a-z0-9]{1,11}$/i.test(name)
  if (!isFile) return showShell(request, dependencies)
  const { consoleFiles } = dependencies
  if (!consoleFiles.isThere) throw noConsole()
  const build = await consoleFiles.current()
  const file = name === shellName ? undefined : build.files.get(name)
  if (file) return showFile(request, build, file)
  throw new GatewayError('not_found', 'The console has no such file. After an update, load the page again.')
}

function showFile(request: Request, { folder }: ConsoleBuild, file: BuiltFile): Response {
  const headers = new Headers({
    ...safety,
    'content-type': mediaTypes[file.name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    'cache-control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: `"${file.etag}"`,
    vary: 'accept-encoding',
  })
  if (isKnown(request, headers)) return new Response(null, { status: 304, headers })
  const path = join(folder, file.name)
  const encoding = file.isCompressed ? encodingOf(request) : null
  if (encoding === null) return new Response(Bun.file(path), { headers })
  headers.set('content-encoding', encoding.name)
  const type = headers.get('content-type') ?? ''
  return new Response(Bun.file(`${path}${encoding.ending}`, { type }), { headers })
}

/** The best form that the browser takes; null for the plain one. */
function encodingOf({ headers }: Request): { name: string; ending: string } | null {
  const taken = headers.get('accept-encoding') ?? ''
  const takes = (name: string) =>
    new RegExp(`(?:^|[ ,])${name}(?!\\s*;\\s*q=0(?:\\.0*)?(?:[ ,]|$))(?:[ ,;]|$)`).test(taken)
  if (takes('br')) return { name: 'br', ending: '.br' }
  return takes('gzip') ? { name: 'gzip', ending: '.gz' } : null
}

/** The page, which learns the base path from it. */
async function showShell(request: Request, { consoleFiles, basePath }: Needed): Promise<Response> {
  if (!consoleFiles.isThere) throw noConsole()
  const { folder } = await consoleFiles.load()
  const html = (await readFile(join(folder, shellName), 'utf8'))
    .replaceAll('="./', `="${basePath}/ui/`)
    .replace('name="headrace-base-path" content=""', `name="headrace-base-path" content="${basePath}"`)
  const headers = new Headers({
    ...safety,
    'content-type': mediaTypes['html'] ?? '',
    'cache-control': 'no-cache',
    etag: `"${createHash('sha256').update(html).digest('hex').slice(0, 32)}"`,
  })
  if (isKnown(request, headers)) return new Response(null, { status: 304, headers })
  return new Response(html, { headers })
}

function isKnown(request: Request, headers: Headers): boolean {
  return request.headers.get('if-none-match') === headers.get('etag')
}

function noConsole(): GatewayError {
  return new GatewayError('not_found', 'The files of the console are not part of this installation.')
}

/** A failure as plain text, because people read it. */
async function safely(show: () => Promise<Response>): Promise<Response> {
  try {
    return await show()
  } catch (thrown) {
    const error = toGatewayError(thrown)
    if (error.type === 'internal') throw error
    const wait = error.status === 503 ? { 'retry-after': '5' } : {}
    const headers = {
      ...safety,
      ...wait,
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
    }
    return new Response(`${error.message}\n`, { status: error.status, headers })
  }
}
