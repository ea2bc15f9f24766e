import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { findPreset } from '../../../src/providers/registry.ts'
import type {
  FetchLogin,
  IdentitySettings,
  IdentityWorld,
} from '../../../src/transport/identities/identity-world.ts'
import { createPackages } from '../../clients/packages.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'
import { askLibraries, cloudLibraries, drawFrom } from './libraries.ts'

const cases = 200

export const proof: Proof = {
  title: 'exchanges for logins against botocore, google-auth and msal, on the same inputs',
  async run() {
    const packages = createPackages()
    try {
      const { folder, reason } = await packages.install(cloudLibraries)
      if (folder === null) return notRun(reason)
      const draw = drawFrom(2_026)
      return combine([
        await compare(
          'Amazon',
          folder,
          Array.from({ length: cases }, () => amazonCase(draw)),
        ),
        await compare(
          'Google',
          folder,
          Array.from({ length: cases }, () => googleCase(draw)),
        ),
        await compare(
          'Entra',
          folder,
          Array.from({ length: cases }, () => entraCase(draw)),
        ),
      ])
    } finally {
      packages.remove()
    }
  },
}

type Draw = ReturnType<typeof drawFrom>

interface Question {
  method: string
  url: string
  body: string
  headers: Record<string, string>
}

/** The same input for a library and for us. */
interface Case {
  /** For the program. */
  library: object
  fetch: FetchLogin
  settings: IdentitySettings
  region: string
  env: Record<string, string>
  /** By path. */
  files: Record<string, string>
  /** By address; any other has the usual answers. */
  answers: Record<string, unknown>
  nowMs: number
}

function fetchOf(slug: string): FetchLogin {
  const identity = findPreset(slug)?.identity
  if (!identity) throw new Error(`${slug} has no logins`)
  return identity.fetch
}

async function compare(name: string, folder: string, asked: readonly Case[]): Promise<ProofResult> {
  const told = await askLibraries(
    folder,
    asked.map(({ library }) => library),
  )
  const problems: string[] = []
  for (const [index, each] of asked.entries()) {
    const theirs = told[index]?.told as Question[] | undefined
    const ours = await questionsOf(each)
    const [left, right] = [JSON.stringify(ours.map(meaningOf)), JSON.stringify(theirs?.map(meaningOf))]
    if (left !== right) problems.push(`${told[index]?.failed ?? right} and here ${left}`)
  }
  return {
    status: problems.length === 0 ? 'PASS' : 'FAIL',
    figures: [
      `${name}: ${asked.length} logins, ${problems.length} asked for differently`,
      ...problems.slice(0, 3).map((problem) => problem.slice(0, 1_500)),
    ],
  }
}

/** Members and headers in which two libraries may differ although they mean the same. */
const ignoredMembers = new Set(['client_info', 'x-client-SKU', 'x-client-VER', 'x-client-OS', 'x-client-CPU'])
/** `metadata` is for the metadata server of a machine alone; msal sends it to App Service, too. */
const comparedHeaders = ['authorization', 'metadata', 'x-identity-header']

/** The parts of a question that the service reads. */
function meaningOf({ method, url, body, headers }: Question) {
  const { origin, pathname, searchParams } = new URL(url)
  const given = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]))
  const shown = comparedHeaders.flatMap((name) => {
    const value = given[name]
    // What is signed of the headers differs, the keys and the scope must not; the signatures have a proof of their own.
    const isNeedless = name === 'metadata' && given['x-identity-header'] !== undefined
    return value === undefined || isNeedless ? [] : [[name, value.replace(/, SignedHeaders=.*/, '')]]
  })
  return [method, origin + pathname, sorted(searchParams), membersOf(body), shown]
}

function membersOf(body: string): unknown {
  if (body.startsWith('{')) {
    const { delegates: _none, ...members } = JSON.parse(body) as Record<string, unknown>
    return byName(Object.entries(members))
  }
  return sorted(new URLSearchParams(body)).map(([name = '', value = '']) =>
    name === 'assertion' ? [name, claimsOf(value)] : [name, plainSubject(value)],
  )
}

/** A signed question to Amazon is encoded once more; libraries leave other characters as they are. */
function plainSubject(value: string): string {
  return value.startsWith('%7B') ? decodeURIComponent(value) : value
}

function sorted(members: URLSearchParams): string[][] {
  return byName([...members].filter(([name]) => !ignoredMembers.has(name)))
}

/** Pairs in the order of their names, and of their texts where a name comes twice. */
function byName<Pair extends readonly unknown[]>(pairs: Pair[]): Pair[] {
  return pairs.toSorted((left, right) => (String(left) < String(right) ? -1 : 1))
}

function claimsOf(assertion: string): unknown {
  return [
    byName(Object.entries(decodeProtectedHeader(assertion))),
    byName(Object.entries(decodeJwt(assertion))),
  ]
}

/** What our own code asks. */
async function questionsOf({
  fetch,
  settings,
  region,
  env,
  files,
  answers,
  nowMs,
}: Case): Promise<Question[]> {
  const asked: Question[] = []
  const world: IdentityWorld = {
    env,
    nowMs: () => nowMs,
    readFile: (path) => Promise.resolve(files[path] ?? null),
    ask({ method, url, headers = {}, body = '' }) {
      asked.push({ method, url, body, headers })
      const [address = ''] = url.split('?')
      const answer = answers[url] ?? answers[address] ?? usualAnswer(url, body)
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
      return Promise.resolve({ status: 200, text, dateMs: null })
    },
  }
  await fetch({ settings, region, baseUrl: 'https://x.example.com' }, world)
  return asked
}

const keysXml =
  '<R><Credentials><AccessKeyId>ASIAX</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration></Credentials></R>'

function usualAnswer(url: string, body: string): unknown {
  if (body.includes('Action=Assume')) return keysXml
  if (url.includes('generateAccessToken'))
    return { accessToken: 'of-another', expireTime: '2030-01-01T00:00:00Z' }
  return { access_token: 'first', expires_in: 3_599, token_type: 'Bearer' }
}

const wordCharacters = 'abcdefghijklmnopqrstuvwxyz0123456789'
const tokenCharacters = 'abcXYZ019+/=_-.~ €'

function word(draw: Draw, length = 8): string {
  return Array.from({ length }, () => draw.in(wordCharacters)).join('')
}

function token(draw: Draw): string {
  return `t${Array.from({ length: 20 + draw.upTo(200) }, () => draw.in(tokenCharacters)).join('')}t`
}

function amazonCase(draw: Draw): Case {
  const region = draw.of(['us-east-1', 'eu-west-3', 'ap-southeast-2'])
  const arn = `arn:aws:iam::${100_000_000_000 + draw.upTo(8e11)}:role/${word(draw)}`
  const name = word(draw)
  const nowMs = 1_700_000_000_000 + draw.upTo(1e10)
  const common = { fetch: fetchOf('amazon-bedrock'), region, answers: {}, nowMs }
  if (draw.upTo(1) === 0) {
    const given = token(draw)
    const env = {
      AWS_ROLE_ARN: arn,
      AWS_WEB_IDENTITY_TOKEN_FILE: '/token',
      AWS_ROLE_SESSION_NAME: name,
      AWS_EC2_METADATA_DISABLED: 'true',
    }
    const library = {
      kind: 'assume',
      operation: 'assume_role_with_web_identity',
      region,
      arguments: { RoleArn: arn, RoleSessionName: name, WebIdentityToken: given },
    }
    return { ...common, library, settings: {}, env, files: { '/token': `${given}\n` } }
  }
  const external = draw.of([null, word(draw)])
  const keys = {
    accessKeyId: `AKIA${word(draw).toUpperCase()}`,
    secret: word(draw, 40),
    sessionToken: `${word(draw, 90)}/+==`,
  }
  const settings = {
    access_key_id: keys.accessKeyId,
    secret_access_key: keys.secret,
    session_token: keys.sessionToken,
    role_arn: arn,
    session_name: name,
    ...(external === null ? {} : { external_id: external }),
  }
  const asked = {
    RoleArn: arn,
    RoleSessionName: name,
    ...(external === null ? {} : { ExternalId: external }),
  }
  const library = { kind: 'assume', operation: 'assume_role', region, nowMs, keys, arguments: asked }
  return { ...common, library, settings, env: {}, files: {} }
}

const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})

function googleCase(draw: Draw): Case {
  const nowMs = 1_700_000_000_000 + draw.upTo(1e10)
  const path = '/credentials.json'
  const impersonated = `${word(draw)}@p.iam.gserviceaccount.com`
  const files: Record<string, string> = {}
  const answers: Record<string, unknown> = {}
  const credentials = draw.of([serviceAccount, user, workloadOfFile, workloadOfAddress, workloadAtAmazon])(
    draw,
  )
  const source = (credentials as { credential_source?: { file?: string; url?: string } }).credential_source
  const subject = token(draw).trim()
  const isJson = JSON.stringify(credentials).includes('"json"')
  const told = isJson ? JSON.stringify({ access_token: subject }) : subject
  if (source?.url !== undefined) answers[source.url] = told
  const file = source?.file
  if (file !== undefined) files[file] = told
  files[path] = JSON.stringify(credentials)
  const settings = {
    credentials_file: path,
    ...(draw.upTo(2) === 0 ? { impersonate: impersonated } : {}),
  }
  const isAtAmazon = JSON.stringify(credentials).includes('"aws1"')
  const env: Record<string, string> = isAtAmazon ? amazonEnvironment(draw) : {}
  const library = {
    kind: 'google',
    nowMs,
    environment: env,
    credentials,
    impersonate: settings.impersonate ?? null,
    subjectUrl: source?.url,
    subjectAnswer: told,
    files,
  }
  return { library, fetch: fetchOf('vertex-ai'), settings, region: '', env, files, answers, nowMs }
}

function serviceAccount(draw: Draw): object {
  return {
    type: 'service_account',
    client_email: `${word(draw)}@p.iam.gserviceaccount.com`,
    private_key: pem,
    private_key_id: word(draw, 20),
    token_uri: draw.of(['https://oauth2.googleapis.com/token', 'https://tokens.example.com/token']),
  }
}

function user(draw: Draw): object {
  return {
    type: 'authorized_user',
    client_id: `${word(draw)}.apps.googleusercontent.com`,
    client_secret: word(draw, 24),
    refresh_token: `1//${word(draw, 40)}`,
  }
}

function workload(draw: Draw, source: object): object {
  const service = `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${word(draw)}@p.iam.gserviceaccount.com:generateAccessToken`
  return {
    type: 'external_account',
    audience: `//iam.googleapis.com/projects/${draw.upTo(1e9)}/locations/global/workloadIdentityPools/${word(draw)}/providers/${word(draw)}`,
    subject_token_type: draw.of([
      'urn:ietf:params:oauth:token-type:jwt',
      'urn:ietf:params:oauth:token-type:saml2',
    ]),
    token_url: 'https://sts.googleapis.com/v1/token',
    ...(draw.upTo(1) === 0 ? {} : { service_account_impersonation_url: service }),
    credential_source: {
      ...source,
      ...(draw.upTo(1) === 0 ? {} : { format: { type: 'json', subject_token_field_name: 'access_token' } }),
    },
  }
}

/** The library reads a real file. */
const workloadOfFile = (draw: Draw): object => workload(draw, { file: `/tmp/headrace-subject-${word(draw)}` })
const workloadOfAddress = (draw: Draw): object =>
  workload(draw, { url: 'https://issuer.example.com/token', headers: { 'x-issuer': word(draw) } })

/** The library finds keys in the environment, too. */
const workloadAtAmazon = (draw: Draw): object => ({
  ...workload(draw, {
    environment_id: 'aws1',
    regional_cred_verification_url:
      'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
  }),
  subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
})

function amazonEnvironment(draw: Draw): Record<string, string> {
  return {
    [draw.of(['AWS_REGION', 'AWS_DEFAULT_REGION'])]: draw.of(['us-east-1', 'eu-west-3']),
    AWS_ACCESS_KEY_ID: `AKIA${word(draw).toUpperCase()}`,
    AWS_SECRET_ACCESS_KEY: word(draw, 40),
    ...(draw.upTo(1) === 0 ? {} : { AWS_SESSION_TOKEN: word(draw, 90) }),
  }
}

function entraCase(draw: Draw): Case {
  const way = draw.of(['secret', 'assertion', 'machine', 'service'])
  const tenant = `${word(draw)}-${word(draw, 4)}-4000-8000-${word(draw, 12)}`
  const clientId = `${word(draw)}-${word(draw, 4)}-4000-9000-${word(draw, 12)}`
  const scope = draw.of(['https://cognitiveservices.azure.com/.default', 'https://ai.azure.com/.default'])
  const secret = token(draw).trim()
  const common = { fetch: fetchOf('azure'), region: '', answers: {}, nowMs: 1_700_000_000_000 }
  if (way === 'secret' || way === 'assertion') {
    const library = { kind: 'entra', way, tenant, clientId, scope, secret }
    const settings = { tenant_id: tenant, client_id: clientId, scope }
    return way === 'secret'
      ? { ...common, library, settings: { ...settings, client_secret: secret }, env: {}, files: {} }
      : {
          ...common,
          library,
          settings: { ...settings, token_file: '/token' },
          env: {},
          files: { '/token': secret },
        }
  }
  const named = draw.of([null, clientId])
  const environment: Record<string, string> =
    way === 'machine'
      ? {}
      : { IDENTITY_ENDPOINT: 'http://127.0.0.1:42356/msi/token', IDENTITY_HEADER: word(draw) }
  const library = { kind: 'entra', way: 'managed', clientId: named, scope, environment }
  const settings = { scope, ...(named === null ? {} : { client_id: named }) }
  return { ...common, library, settings, env: environment, files: {} }
}
