import { readFile } from 'node:fs/promises'
import type { Identity } from '../../canonical/endpoint.ts'
import type { Clock } from '../../core/clock.ts'
import type { Transport } from '../exchange.ts'
import type { FetchLogin, IdentitySettings, IdentityWorld, LoginQuestion } from './identity-world.ts'
import { KeptLogin } from './kept-login.ts'

/** A server that gives out logins answers within this time, or has none; its answer is short. */
const askMs = 5_000
const answerBytesMax = 65_536
/** A file with a login is short. */
const fileCharactersMax = 1_000_000

/** The deployment whose login is kept. */
export interface IdentityOf {
  deploymentId: string
  /** Asks where its provider's logins are. */
  fetch: FetchLogin
  region: string
  baseUrl: string
  settings: IdentitySettings
}

/** The logins of all deployments that have no key. */
export interface Identities {
  /** The login of one more deployment; nothing is fetched before `start`. */
  add(of: IdentityOf): Identity
  /** Fetches the first login of each; resolves when each was fetched or refused. Never rejects. */
  start(): Promise<void>
  stop(): void
  /** Why a deployment has no fresh login; null while all is well, undefined for one that has a key or nothing. */
  reasonOf(deploymentId: string): string | null | undefined
}

/** What fetching logins needs; `environment` is read at every fetch. */
export interface IdentitiesOptions {
  transport: Transport
  clock: Clock
  environment: Readonly<Record<string, string | undefined>>
  report: (deploymentId: string, reason: string | null) => void
}

/** Identities without any deployment yet. */
export function createIdentities(options: IdentitiesOptions): Identities {
  const world = worldOf(options)
  const kept = new Map<string, KeptLogin>()
  return {
    add(of) {
      const { deploymentId, region, baseUrl, settings } = of
      const fetch = () => of.fetch({ settings, region, baseUrl }, world)
      const login = new KeptLogin({ ...options, deploymentId, fetch })
      kept.set(deploymentId, login)
      return login
    },
    start: () => Promise.all([...kept.values()].map((login) => login.start())).then(() => undefined),
    stop: () => kept.forEach((login) => login.stop()),
    reasonOf: (deploymentId) => kept.get(deploymentId)?.reason,
  }
}

function worldOf({ transport, clock, environment: env }: IdentitiesOptions): IdentityWorld {
  return {
    env,
    nowMs: () => clock.nowMs(),
    readFile: readShortFile,
    ask: (question) => ask(question, transport),
  }
}

async function readShortFile(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).slice(0, fileCharactersMax)
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === 'ENOENT') return null
    throw new Error(`the file ${path} cannot be read`, { cause: thrown })
  }
}

/** These servers are the operator's and their cloud's, at addresses that no caller can name; so no guard is between. */
async function ask(
  { method, url, headers = {}, body }: LoginQuestion,
  transport: Transport,
): Promise<{ status: number; text: string; dateMs: number | null }> {
  const { origin, pathname, search } = new URL(url)
  const credential = { reference: { id: 'identity', isByok: false }, auth: { type: 'none' as const } }
  const response = await transport.send(
    { method, path: pathname + search, headers, body: body === undefined ? null : [body] },
    { baseUrl: origin, credential },
    { signal: AbortSignal.timeout(askMs), deadlineMs: askMs, firstByteTimeoutMs: askMs },
  )
  const text = Buffer.from(await response.readAll(answerBytesMax)).toString('utf8')
  const dateMs = Date.parse(response.headers.get('date') ?? '')
  return { status: response.status, text, dateMs: Number.isNaN(dateMs) ? null : dateMs }
}
