import { readFile } from 'node:fs/promises'
import type { Identity } from '../../canonical/endpoint.ts'
import type { Clock } from '../../core/clock.ts'
import type { Transport } from '../../transport/exchange.ts'
import { fetchAwsLogin } from '../amazon-bedrock/login.ts'
import { fetchEntraLogin, usualScope } from '../azure/login.ts'
import type { IdentityKind } from '../define-provider.ts'
import { fetchGoogleLogin } from '../vertex-ai/login.ts'
import type { Grant, IdentityWorld, LoginQuestion } from './identity-world.ts'
import { KeptLogin } from './kept-login.ts'

/** What the operator says of a login; the members are those of the configuration file, already checked. */
export interface IdentitySettings {
  access_key_id?: string | undefined
  secret_access_key?: string | undefined
  session_token?: string | undefined
  profile?: string | undefined
  role_arn?: string | undefined
  external_id?: string | undefined
  session_name?: string | undefined
  credentials_file?: string | undefined
  impersonate?: string | undefined
  tenant_id?: string | undefined
  client_id?: string | undefined
  client_secret?: string | undefined
  token_file?: string | undefined
  scope?: string | undefined
}

/** A server that gives out logins answers within this time, or has none; its answer is short. */
const askMs = 5_000
const answerBytesMax = 65_536
/** A file with a login is short. */
const fileCharactersMax = 1_000_000

/** The deployment whose login is kept. */
export interface IdentityOf {
  deploymentId: string
  kind: IdentityKind
  region: string
  settings: IdentitySettings
}

/** The logins of all deployments that have no key. */
export interface Identities {
  /** The login of one more deployment; nothing is fetched before `start`. */
  add(of: IdentityOf): Identity
  start(): void
  stop(): void
  /** Why a deployment has no fresh login; null while all is well, and for deployments with a key. */
  reasonOf(deploymentId: string): string | null
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
      const { deploymentId } = of
      const login = new KeptLogin({ ...options, deploymentId, fetch: () => fetchLogin(of, world) })
      kept.set(deploymentId, login)
      return login
    },
    start: () => kept.forEach((login) => login.start()),
    stop: () => kept.forEach((login) => login.stop()),
    reasonOf: (deploymentId) => kept.get(deploymentId)?.reason ?? null,
  }
}

function fetchLogin({ kind, region, settings }: IdentityOf, world: IdentityWorld): Promise<Grant> {
  switch (kind) {
    case 'aws':
      return fetchAwsLogin(
        {
          accessKeyId: settings.access_key_id,
          secretAccessKey: settings.secret_access_key,
          sessionToken: settings.session_token,
          profile: settings.profile,
          roleArn: settings.role_arn,
          externalId: settings.external_id,
          sessionName: settings.session_name,
          service: 'bedrock',
          region,
        },
        world,
      )
    case 'google':
      return fetchGoogleLogin(
        { credentialsFile: settings.credentials_file, impersonate: settings.impersonate },
        world,
      )
    case 'entra':
      return fetchEntraLogin(
        {
          tenantId: settings.tenant_id,
          clientId: settings.client_id,
          clientSecret: settings.client_secret,
          tokenFile: settings.token_file,
          scope: settings.scope ?? usualScope,
        },
        world,
      )
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
