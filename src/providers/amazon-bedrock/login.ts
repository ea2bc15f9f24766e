import { join } from 'node:path'
import type { SigningKeys } from '../../canonical/endpoint.ts'
import {
  type FetchLogin,
  firstOf,
  formOf,
  type Grant,
  type IdentitySettings,
  type IdentitySource,
  type IdentityWorld,
  jsonOf,
  type LoginAnswer,
  type LoginAsked,
  LoginRefused,
  textIn,
  untilMs,
} from '../../transport/identities/identity-world.ts'
import { bearer } from '../define-provider.ts'
import { signedHeaders } from '../../transport/aws-signature.ts'
import { readProfile } from './profile.ts'

type Keys = Pick<SigningKeys, 'accessKeyId' | 'secret' | 'sessionToken'>
type KeyGrant = Keys & { lifeMs: number | null }

const sessionName = 'headrace'

/**
 * Fetches a login at Amazon with which requests to a service are signed: the keys of the configuration, else the first of
 * the places that its own tools look at, in their order. With a role, these keys are exchanged for the role's.
 */
export function awsLoginFor(service: string): FetchLogin {
  return async (asked, world) => {
    const { settings, region } = asked
    const toGrant = ({ lifeMs, ...keys }: KeyGrant): Grant => ({
      login: { type: 'signature', ...keys, service, region },
      lifeMs,
    })
    const { login, lifeMs } = await firstOf(sourcesOf(asked, toGrant), world)
    if (settings.role_arn === undefined) return { login, lifeMs }
    if (login.type !== 'signature') throw new LoginRefused('the login found is no pair of keys')
    const { role_arn: arn, external_id: externalId, session_name: name } = settings
    return toGrant(await assumeRole(login, { arn, externalId, sessionName: name }, { asked, world }))
  }
}

function sourcesOf(asked: LoginAsked, toGrant: (keys: KeyGrant) => Grant): readonly IdentitySource[] {
  const { settings } = asked
  const toSource = (
    name: string,
    find: (world: IdentityWorld) => Promise<KeyGrant | null>,
  ): IdentitySource => ({
    name,
    async find(world) {
      const keys = await find(world)
      return keys === null ? null : toGrant(keys)
    },
  })
  if (settings.access_key_id !== undefined)
    return [toSource('the keys of the configuration', () => staticKeys(settings))]
  const shared = toSource('the shared profile', (world) => keysOfProfile(asked, world))
  if (settings.profile !== undefined) return [shared]
  const apiKey = { name: 'the API key of the environment', find: apiKeyOfEnvironment }
  return [
    // A role is taken with a pair of keys.
    ...(settings.role_arn === undefined ? [apiKey] : []),
    toSource('the environment', keysOfEnvironment),
    shared,
    toSource('the web identity', (world) => keysOfWebIdentity(asked, world)),
    toSource('the container', keysOfContainer),
    toSource("the instance's role", keysOfInstance),
  ]
}

async function staticKeys(settings: IdentitySettings): Promise<KeyGrant | null> {
  const { access_key_id: accessKeyId, secret_access_key: secret, session_token: sessionToken } = settings
  if (accessKeyId === undefined || secret === undefined) return null
  return { accessKeyId, secret, sessionToken: sessionToken ?? null, lifeMs: null }
}

/** A key of Bedrock's own, which needs no signature. */
async function apiKeyOfEnvironment({ env }: IdentityWorld): Promise<Grant | null> {
  const secret = env['AWS_BEARER_TOKEN_BEDROCK']
  return secret ? { login: { ...bearer, secret }, lifeMs: null } : null
}

async function keysOfEnvironment({ env }: IdentityWorld): Promise<KeyGrant | null> {
  const [accessKeyId, secret] = [env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY']]
  if (!accessKeyId || !secret) return null
  return { accessKeyId, secret, sessionToken: env['AWS_SESSION_TOKEN'] || null, lifeMs: null }
}

/** A profile has keys, or a role to take with the keys of another profile, of the environment or of this machine. */
async function keysOfProfile(asked: LoginAsked, world: IdentityWorld): Promise<KeyGrant | null> {
  const { env } = world
  const name = asked.settings.profile ?? env['AWS_PROFILE'] ?? 'default'
  const isNamed = asked.settings.profile !== undefined || env['AWS_PROFILE'] !== undefined
  const home = env['HOME'] ?? ''
  const files = [
    env['AWS_SHARED_CREDENTIALS_FILE'] || join(home, '.aws/credentials'),
    env['AWS_CONFIG_FILE'] || join(home, '.aws/config'),
  ]
  const texts = await Promise.all(files.map((path) => world.readFile(path)))
  const keys = await keysIn(name, { texts, asked, world, seen: [] })
  if (keys === null && isNamed) throw new LoginRefused(`there is no profile "${name}" with keys or a role`)
  return keys
}

interface ProfileReading {
  texts: readonly (string | null)[]
  asked: LoginAsked
  world: IdentityWorld
  /** Names on the way here; a profile must not lead to itself. */
  seen: readonly string[]
}

async function keysIn(name: string, reading: ProfileReading): Promise<KeyGrant | null> {
  const { texts, asked, world, seen } = reading
  if (seen.includes(name)) throw new LoginRefused(`the profile "${name}" leads to itself`)
  const profile = readProfile(texts, name)
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secret, role_arn: arn } = profile
  const isOwnSource = profile['source_profile'] === name
  const own =
    accessKeyId && secret
      ? { accessKeyId, secret, sessionToken: profile['aws_session_token'] || null, lifeMs: null }
      : null
  if (!arn) return own
  const external = { externalId: profile['external_id'], sessionName: profile['role_session_name'] }
  const tokenFile = profile['web_identity_token_file']
  if (tokenFile) return withWebIdentity({ arn, tokenFile, ...external }, asked, world)
  const source = profile['source_profile']
  let keys: KeyGrant | null = isOwnSource ? own : null
  if (source === undefined) keys = await keysOfPlace(profile['credential_source'], world)
  else if (!isOwnSource) keys = await keysIn(source, { ...reading, seen: [...seen, name] })
  if (keys === null) throw new LoginRefused(`the profile "${name}" has a role and no keys to take it with`)
  return assumeRole(keys, { arn, ...external }, { asked, world })
}

/** The words of `credential_source`. */
async function keysOfPlace(place: string | undefined, world: IdentityWorld): Promise<KeyGrant | null> {
  switch (place) {
    case 'Environment':
      return keysOfEnvironment(world)
    case 'EcsContainer':
      return keysOfContainer(world)
    case 'Ec2InstanceMetadata':
      return keysOfInstance(world)
    default:
      return null
  }
}

/** The token of a workload, such as a service account of Kubernetes; its file is replaced while the process runs. */
async function keysOfWebIdentity(asked: LoginAsked, world: IdentityWorld): Promise<KeyGrant | null> {
  const { env } = world
  const [arn, tokenFile] = [env['AWS_ROLE_ARN'], env['AWS_WEB_IDENTITY_TOKEN_FILE']]
  if (!arn || !tokenFile) return null
  return withWebIdentity({ arn, tokenFile, sessionName: env['AWS_ROLE_SESSION_NAME'] }, asked, world)
}

async function withWebIdentity(
  role: { arn: string; tokenFile: string; sessionName?: string | undefined },
  asked: LoginAsked,
  world: IdentityWorld,
): Promise<KeyGrant> {
  const token = await world.readFile(role.tokenFile)
  if (token === null) throw new LoginRefused(`there is no file ${role.tokenFile}`)
  const answer = await world.ask({
    method: 'POST',
    url: stsAddress(asked, world),
    ...formOf({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role.arn,
      RoleSessionName: role.sessionName ?? sessionName,
      WebIdentityToken: token.trim(),
    }),
  })
  return keysOfXml(answer, world)
}

/** Exchanges keys for those of a role. */
async function assumeRole(
  keys: Keys,
  role: { arn: string; externalId?: string | undefined; sessionName?: string | undefined },
  { asked, world }: { asked: LoginAsked; world: IdentityWorld },
): Promise<KeyGrant> {
  const url = stsAddress(asked, world)
  const { headers = {}, body = '' } = formOf({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: role.arn,
    RoleSessionName: role.sessionName ?? sessionName,
    ExternalId: role.externalId,
  })
  const signed = await signedHeaders(
    { method: 'POST', url, headers, body },
    { type: 'signature', ...keys, service: 'sts', region: asked.region },
    world.nowMs(),
  )
  const sent = { ...headers, ...signed }
  return keysOfXml(await world.ask({ method: 'POST', url, headers: sent, body }), world)
}

function stsAddress({ region }: LoginAsked, { env }: IdentityWorld): string {
  const given = env['AWS_ENDPOINT_URL_STS'] || env['AWS_ENDPOINT_URL']
  if (given) return `${given.replace(/\/+$/, '')}/`
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `https://sts.${region}.${domain}/`
}

/** The answer of both exchanges: a flat list of texts. */
function keysOfXml(answer: LoginAnswer, world: IdentityWorld): KeyGrant {
  const textOf = (name: string): string | null =>
    new RegExp(`<${name}>([^<]{1,16384})</${name}>`).exec(answer.text)?.[1] ?? null
  if (answer.status !== 200) {
    const code = textOf('Code')
    const said = code !== null && /^\w{1,80}$/.test(code) ? `, ${code}` : ''
    throw new LoginRefused(`the security token service answered ${answer.status}${said}`)
  }
  const [accessKeyId, secret, sessionToken, moment] = [
    textOf('AccessKeyId'),
    textOf('SecretAccessKey'),
    textOf('SessionToken'),
    textOf('Expiration'),
  ]
  if (accessKeyId === null || secret === null || sessionToken === null || moment === null)
    throw new LoginRefused('the security token service answered with something else than keys')
  return { accessKeyId, secret, sessionToken, lifeMs: untilMs(moment, answer, world) }
}

const containerHost = 'http://169.254.170.2'
/** Hosts that may be asked without TLS: this machine, and the addresses of ECS and EKS. */
const plainHosts =
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/

/** The agent of a container: of ECS, and of EKS with a token from a file that is replaced while the process runs. */
async function keysOfContainer(world: IdentityWorld): Promise<KeyGrant | null> {
  const { env } = world
  const [relative, full] = [
    env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'],
    env['AWS_CONTAINER_CREDENTIALS_FULL_URI'],
  ]
  if (!relative && !full) return null
  const url = URL.parse(relative ? containerHost + relative : (full ?? ''))
  if (url === null) throw new LoginRefused('AWS_CONTAINER_CREDENTIALS_FULL_URI is not an address')
  if (url.protocol !== 'https:' && !plainHosts.test(url.hostname))
    throw new LoginRefused(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI must have https, or name this machine or its agent',
    )
  const file = env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']
  const token = file ? await world.readFile(file) : (env['AWS_CONTAINER_AUTHORIZATION_TOKEN'] ?? null)
  if (file && token === null) throw new LoginRefused(`there is no file ${file}`)
  const headers = token ? { authorization: token.trim() } : {}
  return keysOfJson(await world.ask({ method: 'GET', url: url.href, headers }), world)
}

/** The instance's own role: a token first, which no page that the instance serves can fetch for a stranger. */
async function keysOfInstance(world: IdentityWorld): Promise<KeyGrant | null> {
  const { env } = world
  if (env['AWS_EC2_METADATA_DISABLED']?.toLowerCase() === 'true') return null
  const root = (env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] || 'http://169.254.169.254').replace(/\/+$/, '')
  const asked = await world.ask({
    method: 'PUT',
    url: `${root}/latest/api/token`,
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' },
  })
  if (asked.status !== 200) throw new LoginRefused(`the metadata server answered ${asked.status}`)
  const headers = { 'x-aws-ec2-metadata-token': asked.text.trim() }
  const roles = `${root}/latest/meta-data/iam/security-credentials/`
  const named = await world.ask({ method: 'GET', url: roles, headers })
  const [role = ''] = named.status === 200 ? named.text.trim().split('\n') : []
  if (!/^[\w+=,.@-]{1,128}$/.test(role)) throw new LoginRefused('the instance has no role')
  return keysOfJson(await world.ask({ method: 'GET', url: roles + role, headers }), world)
}

function keysOfJson(answer: LoginAnswer, world: IdentityWorld): KeyGrant {
  const body = jsonOf(answer)
  return {
    accessKeyId: textIn(body, 'AccessKeyId'),
    secret: textIn(body, 'SecretAccessKey'),
    sessionToken: textIn(body, 'Token'),
    lifeMs: untilMs(textIn(body, 'Expiration'), answer, world),
  }
}
