import type { Login } from '../../canonical/endpoint.ts'

/** A question to a server that gives out logins. */
export interface LoginQuestion {
  method: 'GET' | 'PUT' | 'POST'
  url: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/** Its answer. `dateMs` is the server's own clock, by its `Date` header; null where it tells none. */
export interface LoginAnswer {
  status: number
  text: string
  dateMs: number | null
}

/** What logins are made of: variables, files of this machine, servers, and the time. */
export interface IdentityWorld {
  env: Readonly<Record<string, string | undefined>>
  /** The text of a file; null when there is none. Rejects when it cannot be read. */
  readFile(path: string): Promise<string | null>
  /** Rejects when the server does not answer within a few seconds. */
  ask(question: LoginQuestion): Promise<LoginAnswer>
  nowMs(): number
}

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
  account?: string | undefined
  user?: string | undefined
  private_key_file?: string | undefined
}

/** What a login is fetched for. */
export interface LoginAsked {
  settings: IdentitySettings
  region: string
  /** The deployment's own, for services that give out logins at the host of their API. */
  baseUrl: string
}

/** Fetches a login of a provider. Rejects with LoginRefused. */
export type FetchLogin = (asked: LoginAsked, world: IdentityWorld) => Promise<Grant>

/** A login, and for how long it is valid from now; null for as long as it is not refused. */
export interface Grant {
  login: Login
  lifeMs: number | null
}

/** A place where a login may come from. */
export interface IdentitySource {
  /** For people: `the instance's role`. */
  name: string
  /** Null where the place is not set up. Throws LoginRefused when it is and gives no login. */
  find(world: IdentityWorld): Promise<Grant | null>
}

/** Why a place gave no login, in words for the operator; never with a secret. */
export class LoginRefused extends Error {}

/** The first grant of a chain. Throws LoginRefused with every place that was tried. */
export async function firstOf(sources: readonly IdentitySource[], world: IdentityWorld): Promise<Grant> {
  for (const source of sources) {
    const grant = await source.find(world).catch((thrown: unknown) => {
      throw new LoginRefused(`${source.name}: ${thrown instanceof Error ? thrown.message : 'failed'}`)
    })
    if (grant !== null) return grant
  }
  throw new LoginRefused(`no login was found; looked at ${sources.map(({ name }) => name).join(', ')}`)
}

/** An answer's JSON object. Throws LoginRefused, with the error's own words where it has some. */
export function jsonOf({ status, text }: LoginAnswer): Readonly<Record<string, unknown>> {
  const body = parse(text)
  if (status < 200 || status >= 300) throw new LoginRefused(refusalOf(status, body))
  if (body === null) throw new LoginRefused('it answered with something else than a JSON object')
  return body
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** The names of an error, which are words of a list; its sentences may repeat what was sent. */
const errorWord = /^[\w .:-]{1,80}$/

function refusalOf(status: number, body: Readonly<Record<string, unknown>> | null): string {
  const named = body?.['error'] ?? body?.['Code'] ?? body?.['code']
  const inner =
    typeof named === 'object' && named !== null ? (named as Record<string, unknown>)['status'] : named
  return typeof inner === 'string' && errorWord.test(inner)
    ? `it answered ${status}, ${inner}`
    : `it answered ${status}`
}

/** A member that must be text. */
export function textIn(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name]
  if (typeof value !== 'string' || value === '') throw new LoginRefused(`its answer has no "${name}"`)
  return value
}

/** A number of seconds, which some servers write as text, in milliseconds. */
export function secondsIn(body: Readonly<Record<string, unknown>>, name: string): number {
  const seconds = Number(body[name])
  if (!Number.isFinite(seconds) || seconds <= 0) throw new LoginRefused(`its answer has no "${name}"`)
  return seconds * 1000
}

/** The time until a moment that a server named, by that server's clock: this machine's may be wrong. */
export function untilMs(moment: string, { dateMs }: LoginAnswer, world: IdentityWorld): number {
  const endMs = Date.parse(moment)
  if (Number.isNaN(endMs)) throw new LoginRefused('its answer names no time at which the login ends')
  return endMs - (dateMs ?? world.nowMs())
}

/** A form's body. */
export function formOf(
  members: Readonly<Record<string, string | undefined>>,
): Pick<LoginQuestion, 'headers' | 'body'> {
  const given = Object.entries(members).filter(
    (member): member is [string, string] => member[1] !== undefined,
  )
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(given).toString(),
  }
}
