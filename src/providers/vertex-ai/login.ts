import { createPrivateKey, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { bearer } from '../define-provider.ts'
import { amazonSubject } from './amazon-subject.ts'
import {
  type FetchLogin,
  firstOf,
  formOf,
  type Grant,
  type IdentitySettings,
  type IdentitySource,
  type IdentityWorld,
  jsonOf,
  LoginRefused,
  secondsIn,
  textIn,
  untilMs,
} from '../../transport/identities/identity-world.ts'
import { signStatement } from '../../transport/identities/signed-statement.ts'

type Wire = Readonly<Record<string, unknown>>

const scope = 'https://www.googleapis.com/auth/cloud-platform'
/** Of a token that only fetches one of another account. */
const exchangeScope = 'https://www.googleapis.com/auth/iam'
const tokenAddress = 'https://oauth2.googleapis.com/token'
const stsAddress = 'https://sts.googleapis.com/v1/token'

/** Fetches a token at Google, in the name of another account where the operator asks for that. */
export const fetchGoogleLogin: FetchLogin = async ({ settings }, world) => {
  const isOwn = settings.impersonate === undefined
  const grant = await firstOf(sourcesOf(settings, isOwn ? scope : exchangeScope), world)
  if (settings.impersonate === undefined) return grant
  const account = encodeURIComponent(settings.impersonate).replaceAll('%40', '@')
  const url = `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${account}:generateAccessToken`
  return impersonated({ url, grant, wanted: scope }, world)
}

function sourcesOf(
  { credentials_file: credentialsFile }: IdentitySettings,
  wanted: string,
): readonly IdentitySource[] {
  const named = {
    name: 'the credentials file',
    find: (world: IdentityWorld) =>
      ofFile(credentialsFile ?? world.env['GOOGLE_APPLICATION_CREDENTIALS'], wanted, world),
  }
  if (credentialsFile !== undefined) return [named]
  return [
    named,
    { name: "gcloud's own file", find: (world) => ofGcloud(wanted, world) },
    { name: 'the metadata server', find: ofMetadataServer },
  ]
}

async function ofFile(path: string | undefined, wanted: string, world: IdentityWorld): Promise<Grant | null> {
  if (!path) return null
  const text = await world.readFile(path)
  if (text === null) throw new LoginRefused(`there is no file ${path}`)
  return withCredentials(text, wanted, world)
}

async function ofGcloud(wanted: string, world: IdentityWorld): Promise<Grant | null> {
  const { env } = world
  const folder = env['CLOUDSDK_CONFIG'] || (env['HOME'] ? join(env['HOME'], '.config/gcloud') : '')
  const text =
    folder === '' ? null : await world.readFile(join(folder, 'application_default_credentials.json'))
  return text === null ? null : withCredentials(text, wanted, world)
}

/** The kinds of credentials that files have. */
async function withCredentials(text: string, wanted: string, world: IdentityWorld): Promise<Grant> {
  const wire = jsonOf({ status: 200, text, dateMs: null })
  switch (wire['type']) {
    case 'service_account':
      return ofServiceAccount(wire, wanted, world)
    case 'external_account':
      return ofWorkload(wire, wanted, world)
    case 'authorized_user':
      return ofUser(wire, world)
    case 'impersonated_service_account': {
      const source = wire['source_credentials']
      const inner = await withCredentials(JSON.stringify(source ?? {}), exchangeScope, world)
      const url = textIn(wire, 'service_account_impersonation_url')
      return impersonated({ url, grant: inner, wanted }, world)
    }
    default:
      throw new LoginRefused('the file has credentials of a kind that is not known here')
  }
}

/** A statement signed with the account's own key, for a token of an hour. */
async function ofServiceAccount(wire: Wire, wanted: string, world: IdentityWorld): Promise<Grant> {
  const url = typeof wire['token_uri'] === 'string' ? wire['token_uri'] : tokenAddress
  const keyId = wire['private_key_id']
  const assertion = await signStatement(keyOf(textIn(wire, 'private_key')), {
    issuer: textIn(wire, 'client_email'),
    // Also where the file names another address, as Google's own libraries have it.
    audience: tokenAddress,
    ...(typeof keyId === 'string' ? { keyId } : {}),
    claims: { scope: wanted },
    nowMs: world.nowMs(),
    lifeSeconds: 3_600,
  })
  const form = formOf({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  return tokenOf(jsonOf(await world.ask({ method: 'POST', url, ...form })))
}

function keyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new LoginRefused('the file has no private key that can be read')
  }
}

async function ofUser(wire: Wire, world: IdentityWorld): Promise<Grant> {
  const url = typeof wire['token_uri'] === 'string' ? wire['token_uri'] : tokenAddress
  const form = formOf({
    grant_type: 'refresh_token',
    client_id: textIn(wire, 'client_id'),
    client_secret: textIn(wire, 'client_secret'),
    refresh_token: textIn(wire, 'refresh_token'),
  })
  return tokenOf(jsonOf(await world.ask({ method: 'POST', url, ...form })))
}

/** A token of another issuer for one of Google's: from a file that is replaced while the process runs, an address, or Amazon. */
async function ofWorkload(wire: Wire, wanted: string, world: IdentityWorld): Promise<Grant> {
  const other = wire['service_account_impersonation_url']
  const url = typeof wire['token_url'] === 'string' ? wire['token_url'] : stsAddress
  const form = formOf({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: textIn(wire, 'audience'),
    scope: typeof other === 'string' ? exchangeScope : wanted,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token: await subjectToken(wire, world),
    subject_token_type: textIn(wire, 'subject_token_type'),
  })
  const grant = tokenOf(jsonOf(await world.ask({ method: 'POST', url, ...form })))
  return typeof other === 'string' ? impersonated({ url: other, grant, wanted }, world) : grant
}

async function subjectToken(wire: Wire, world: IdentityWorld): Promise<string> {
  const source = recordIn(wire, 'credential_source')
  const { environment_id: cloud } = source
  if (typeof cloud === 'string' && cloud.startsWith('aws'))
    return amazonSubject(source, textIn(wire, 'audience'), world)
  const format = recordIn(source, 'format')
  const text = await subjectText(source, world)
  if (format['type'] !== 'json') return text.trim()
  return textIn(jsonOf({ status: 200, text, dateMs: null }), textIn(format, 'subject_token_field_name'))
}

async function subjectText(source: Wire, world: IdentityWorld): Promise<string> {
  const { file, url, headers } = source
  if (typeof file === 'string') {
    const text = await world.readFile(file)
    if (text === null) throw new LoginRefused(`there is no file ${file}`)
    return text
  }
  if (typeof url !== 'string')
    throw new LoginRefused('the file names no place of its token that is known here')
  const given = typeof headers === 'object' && headers !== null ? (headers as Record<string, string>) : {}
  const { status, text } = await world.ask({ method: 'GET', url, headers: given })
  if (status !== 200) throw new LoginRefused(`the place of its token answered ${status}`)
  return text
}

function recordIn(wire: Wire, name: string): Wire {
  const value = wire[name]
  return typeof value === 'object' && value !== null ? (value as Wire) : {}
}

/** A token of another account, for an hour. */
async function impersonated(
  { url, grant: { login }, wanted }: { url: string; grant: Grant; wanted: string },
  world: IdentityWorld,
): Promise<Grant> {
  const secret = login.type === 'header' ? login.secret : ''
  const answer = await world.ask({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scope: [wanted], lifetime: '3600s' }),
  })
  const body = jsonOf(answer)
  const lifeMs = untilMs(textIn(body, 'expireTime'), answer, world)
  return { login: { ...bearer, secret: textIn(body, 'accessToken') }, lifeMs }
}

/** The account of the machine. `GCE_METADATA_HOST` names another server than the usual one. */
async function ofMetadataServer(world: IdentityWorld): Promise<Grant | null> {
  const host = world.env['GCE_METADATA_HOST'] || 'metadata.google.internal'
  const path = '/computeMetadata/v1/instance/service-accounts/default/token'
  const headers = { 'metadata-flavor': 'Google' }
  const answer = await world.ask({ method: 'GET', url: `http://${host}${path}`, headers })
  return tokenOf(jsonOf(answer))
}

function tokenOf(body: Wire): Grant {
  return {
    login: { ...bearer, secret: textIn(body, 'access_token') },
    lifeMs: secondsIn(body, 'expires_in'),
  }
}
