import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { generateKeyPairSync } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jwtVerify, importSPKI } from 'jose'
import type { Login } from '../../canonical/endpoint.ts'
import { systemClock } from '../../core/clock.ts'
import type { IdentityKind } from '../../providers/define-provider.ts'
import { presets } from '../../providers/registry.ts'
import { createTransport } from '../http-client.ts'
import { createIdentities } from './identities.ts'
import type { IdentitySettings } from './identity-world.ts'

interface Asked {
  method: string
  path: string
  headers: Headers
  body: string
}

type Reply = Response | (() => Response)

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A server with an answer for each method and path; what it has none for is 404. */
function startServer(replies: Readonly<Record<string, (asked: Asked) => Reply>>) {
  const asked: Asked[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const one = {
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        body: await request.text(),
      }
      asked.push(one)
      const found = replies[`${request.method} ${pathname}`]
      if (found === undefined) return new Response('', { status: 404 })
      const reply = found(one)
      return typeof reply === 'function' ? reply() : reply
    },
  })
  closers.push(() => server.stop(true))
  return { url: `http://127.0.0.1:${server.port}`, host: `127.0.0.1:${server.port}`, asked }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-identity-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  return folder
}

function fileWith(text: string): string {
  const path = join(newFolder(), 'file')
  writeFileSync(path, text)
  return path
}

interface Given {
  kind: IdentityKind
  baseUrl?: string
  settings?: IdentitySettings
  environment?: Record<string, string>
}

function newIdentity({ kind, baseUrl = 'http://127.0.0.1', settings = {}, environment = {} }: Given) {
  const reports: (string | null)[] = []
  const identities = createIdentities({
    transport: createTransport({ clock: systemClock }),
    clock: systemClock,
    // A home without any file, so that this machine's own logins are not found.
    environment: { HOME: newFolder(), ...environment },
    report: (_deployment, reason) => reports.push(reason),
  })
  closers.push(() => identities.stop())
  const found = presets.find(({ identity: one }) => one?.kind === kind)?.identity
  if (!found) throw new Error(`no provider has logins of ${kind}`)
  const identity = identities.add({
    deploymentId: 'd',
    fetch: found.fetch,
    region: 'us-east-1',
    baseUrl,
    settings,
  })
  return { identity, reports, identities }
}

/** The login, or why there is none. */
async function loginOf(given: Given): Promise<Login | string | null> {
  const { identity, identities } = newIdentity(given)
  try {
    return await identity.login()
  } catch {
    return identities.reasonOf('d') ?? null
  }
}

const keys = (name: string, session: string | null = 'session'): Login => ({
  type: 'signature',
  accessKeyId: `AKIA${name}`,
  secret: `secret-${name}`,
  sessionToken: session === null ? null : `${session}-${name}`,
  service: 'bedrock',
  region: 'us-east-1',
})
const token = (secret: string): Login => ({
  type: 'header',
  name: 'authorization',
  prefix: 'Bearer ',
  secret,
})
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()
const keysJson = (name: string) => () =>
  Response.json({
    AccessKeyId: `AKIA${name}`,
    SecretAccessKey: `secret-${name}`,
    Token: `session-${name}`,
    Expiration: inAnHour(),
  })
const keysXml = (name: string) =>
  new Response(
    `<R><Credentials><AccessKeyId>AKIA${name}</AccessKeyId><SecretAccessKey>secret-${name}</SecretAccessKey>` +
      `<SessionToken>session-${name}</SessionToken><Expiration>${inAnHour()}</Expiration></Credentials></R>`,
  )

describe('a login at Amazon', () => {
  test('is the API key of the environment before any pair of keys, unless a role is taken', async () => {
    const environment = {
      AWS_BEARER_TOKEN_BEDROCK: 'bedrock-api-key',
      AWS_ACCESS_KEY_ID: 'AKIAenv',
      AWS_SECRET_ACCESS_KEY: 'secret-env',
    }
    expect(await loginOf({ kind: 'aws', environment })).toEqual(token('bedrock-api-key'))
    const sts = startServer({ 'POST /': () => keysXml('role') })
    const role = { role_arn: 'arn:aws:iam::123456789012:role/gateway' }
    const withSts = { ...environment, AWS_ENDPOINT_URL_STS: sts.url }
    expect(await loginOf({ kind: 'aws', environment: withSts, settings: role })).toEqual(keys('role'))
  })

  test('is the keys of the configuration, else those of the environment', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'AKIAenv', AWS_SECRET_ACCESS_KEY: 'secret-env' }
    const settings = { access_key_id: 'AKIAown', secret_access_key: 'secret-own' }
    expect(await loginOf({ kind: 'aws', settings, environment })).toEqual(keys('own', null))
    expect(await loginOf({ kind: 'aws', environment })).toEqual(keys('env', null))
  })

  test('is a profile of the shared files, or the role that it takes with another profile’s keys', async () => {
    const sts = startServer({ 'POST /': () => keysXml('role') })
    const environment = {
      AWS_SHARED_CREDENTIALS_FILE: fileWith(
        '[default]\naws_access_key_id = AKIAdefault\naws_secret_access_key=secret-default\n\n[base]\naws_access_key_id=AKIAbase\naws_secret_access_key=secret-base\naws_session_token=session-base\n',
      ),
      AWS_CONFIG_FILE: fileWith(
        '[profile work]\nrole_arn = arn:aws:iam::123456789012:role/gateway\nsource_profile = base\nexternal_id = x-1\n[profile round]\nrole_arn=arn:aws:iam::123456789012:role/a\nsource_profile=round\n',
      ),
      AWS_ENDPOINT_URL_STS: sts.url,
    }
    expect(await loginOf({ kind: 'aws', environment })).toEqual(keys('default', null))
    expect(await loginOf({ kind: 'aws', environment, settings: { profile: 'base' } })).toEqual(keys('base'))
    expect(await loginOf({ kind: 'aws', environment, settings: { profile: 'work' } })).toEqual(keys('role'))
    expect(Object.fromEntries(new URLSearchParams(sts.asked[0]?.body))).toEqual({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::123456789012:role/gateway',
      RoleSessionName: 'headrace',
      ExternalId: 'x-1',
    })
    expect(sts.asked[0]?.headers.get('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAbase\/\d{8}\/us-east-1\/sts\/aws4_request, SignedHeaders=[a-z0-9;-]+, Signature=[0-9a-f]{64}$/,
    )
    expect(sts.asked[0]?.headers.get('x-amz-security-token')).toBe('session-base')
    const round = await loginOf({ kind: 'aws', environment, settings: { profile: 'round' } })
    expect(round).toBe('the shared profile: the profile "round" has a role and no keys to take it with')
    const missing = await loginOf({ kind: 'aws', environment, settings: { profile: 'none' } })
    expect(missing).toBe('the shared profile: there is no profile "none" with keys or a role')
  })

  test('is a role of a workload, by the token of a file that is read each time', async () => {
    let refuses = true
    const sts = startServer({
      'POST /': () =>
        refuses
          ? new Response('<E><Error><Code>InvalidIdentityToken</Code></Error></E>', { status: 400 })
          : keysXml('web'),
    })
    const file = fileWith('token-1\n')
    const environment = {
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/web',
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
      AWS_ENDPOINT_URL_STS: sts.url,
    }
    expect(await loginOf({ kind: 'aws', environment })).toBe(
      'the web identity: the security token service answered 400, InvalidIdentityToken',
    )
    refuses = false
    writeFileSync(file, 'token-2\n')
    expect(await loginOf({ kind: 'aws', environment })).toEqual(keys('web'))
    const sent = sts.asked.map(({ body }) => new URLSearchParams(body).get('WebIdentityToken'))
    expect(sent).toEqual(['token-1', 'token-2'])
    expect(sts.asked[0]?.headers.get('authorization')).toBeNull()
  })

  test('is a container’s, whose agent is this machine’s', async () => {
    const agent = startServer({ 'GET /v1/credentials': keysJson('pod') })
    const environment = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: fileWith('pod-token'),
    }
    expect(await loginOf({ kind: 'aws', environment })).toEqual(keys('pod'))
    expect(agent.asked[0]?.headers.get('authorization')).toBe('pod-token')
    const elsewhere = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://example.com/v1/credentials' }
    expect(await loginOf({ kind: 'aws', environment: elsewhere })).toContain(
      'must have https, or name this machine',
    )
  })

  test('is the role of an instance, after a token for its metadata', async () => {
    const metadata = startServer({
      'PUT /latest/api/token': () => new Response('metadata-token'),
      'GET /latest/meta-data/iam/security-credentials/': () => new Response('gateway-role\n'),
      'GET /latest/meta-data/iam/security-credentials/gateway-role': keysJson('instance'),
    })
    const environment = { AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url }
    expect(await loginOf({ kind: 'aws', environment })).toEqual(keys('instance'))
    expect(metadata.asked.map(({ headers }) => headers.get('x-aws-ec2-metadata-token'))).toEqual([
      null,
      'metadata-token',
      'metadata-token',
    ])
  })

  test.each([-3_600_000, 3_600_000])(
    'whose server has another clock ends by that clock: %d',
    async (offsetMs) => {
      const theirMs = Date.now() + offsetMs
      const agent = startServer({
        'GET /v1/credentials': () =>
          Response.json(
            {
              AccessKeyId: 'AKIAclock',
              SecretAccessKey: 'secret-clock',
              Token: 'session-clock',
              Expiration: new Date(theirMs + 900_000).toISOString(),
            },
            { headers: { date: new Date(theirMs).toUTCString() } },
          ),
      })
      const environment = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/v1/credentials` }
      const { identity } = newIdentity({ kind: 'aws', environment })
      for (let round = 0; round < 3; round += 1) expect(await identity.login()).toEqual(keys('clock'))
      expect(agent.asked).toHaveLength(1)
    },
  )

  test('that is nowhere says where it was looked for', async () => {
    const environment = { AWS_EC2_METADATA_DISABLED: 'true' }
    expect(await loginOf({ kind: 'aws', environment })).toBe(
      "no login was found; looked at the API key of the environment, the environment, the shared profile, the web identity, the container, the instance's role",
    )
  })
})

describe('a login at Google', () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' })
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' })
  const oneHour = (secret: string) => () =>
    Response.json({ access_token: secret, expires_in: 3_599, token_type: 'Bearer' })

  test('is a token for a statement that the service account signed', async () => {
    const google = startServer({ 'POST /token': oneHour('ya29.a') })
    const file = fileWith(
      JSON.stringify({
        type: 'service_account',
        client_email: 'gateway@p.iam.gserviceaccount.com',
        private_key: privateKey,
        private_key_id: 'k1',
        token_uri: `${google.url}/token`,
      }),
    )
    expect(await loginOf({ kind: 'google', environment: { GOOGLE_APPLICATION_CREDENTIALS: file } })).toEqual(
      token('ya29.a'),
    )
    const form = new URLSearchParams(google.asked[0]?.body)
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { payload, protectedHeader } = await jwtVerify(
      form.get('assertion') ?? '',
      await importSPKI(publicKey, 'RS256'),
      { audience: 'https://oauth2.googleapis.com/token', issuer: 'gateway@p.iam.gserviceaccount.com' },
    )
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
    expect(payload['scope']).toBe('https://www.googleapis.com/auth/cloud-platform')
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600)
  })

  test('is another issuer’s token exchanged, and the one of the account that it stands for', async () => {
    const google = startServer({
      'POST /sts': oneHour('federated'),
      'POST /as': () => Response.json({ accessToken: 'ya29.as', expireTime: inAnHour() }),
    })
    const subject = fileWith('{"token":"outer"}')
    const file = fileWith(
      JSON.stringify({
        type: 'external_account',
        audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${google.url}/sts`,
        service_account_impersonation_url: `${google.url}/as`,
        credential_source: { file: subject, format: { type: 'json', subject_token_field_name: 'token' } },
      }),
    )
    expect(await loginOf({ kind: 'google', settings: { credentials_file: file } })).toEqual(token('ya29.as'))
    const [exchange, impersonation] = google.asked
    expect(Object.fromEntries(new URLSearchParams(exchange?.body))).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
      scope: 'https://www.googleapis.com/auth/iam',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token: 'outer',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    })
    expect(exchange?.headers.get('authorization')).toBeNull()
    expect(impersonation?.headers.get('authorization')).toBe('Bearer federated')
  })

  test('is exchanged for a question that a workload at Amazon signs, with the region of its instance', async () => {
    const google = startServer({
      'POST /sts': () => Response.json({ access_token: 'federated', expires_in: 3_599 }),
    })
    const amazon = startServer({
      'PUT /latest/api/token': () => new Response('metadata-token'),
      'GET /zone': () => new Response('eu-west-3b'),
    })
    const audience = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q'
    const file = fileWith(
      JSON.stringify({
        type: 'external_account',
        audience,
        subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
        token_url: `${google.url}/sts`,
        credential_source: {
          environment_id: 'aws1',
          region_url: `${amazon.url}/zone`,
          imdsv2_session_token_url: `${amazon.url}/latest/api/token`,
          regional_cred_verification_url:
            'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
        },
      }),
    )
    const environment = {
      AWS_ACCESS_KEY_ID: 'AKIAworkload',
      AWS_SECRET_ACCESS_KEY: 'never-shown',
      // A key of Bedrock alone signs nothing.
      AWS_BEARER_TOKEN_BEDROCK: 'bedrock-api-key',
    }
    expect(await loginOf({ kind: 'google', settings: { credentials_file: file }, environment })).toEqual(
      token('federated'),
    )
    expect(amazon.asked[1]?.headers.get('x-aws-ec2-metadata-token')).toBe('metadata-token')
    const subject = new URLSearchParams(google.asked[0]?.body).get('subject_token') ?? ''
    const question = JSON.parse(decodeURIComponent(subject)) as {
      url: string
      method: string
      headers: { key: string; value: string }[]
    }
    expect([question.method, question.url]).toEqual([
      'POST',
      'https://sts.eu-west-3.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
    ])
    const headers = Object.fromEntries(question.headers.map(({ key, value }) => [key, value]))
    expect(Object.keys(headers)).toEqual([
      'Authorization',
      'host',
      'x-amz-date',
      'x-goog-cloud-target-resource',
    ])
    expect(headers['x-goog-cloud-target-resource']).toBe(audience)
    expect(headers['Authorization']).toStartWith('AWS4-HMAC-SHA256 Credential=AKIAworkload/')
    expect(subject).not.toContain('never-shown')
  })

  test('is the machine’s', async () => {
    const path = '/computeMetadata/v1/instance/service-accounts/default/token'
    const metadata = startServer({ [`GET ${path}`]: oneHour('ya29.m') })
    const environment = { GCE_METADATA_HOST: metadata.host }
    expect(await loginOf({ kind: 'google', environment })).toEqual(token('ya29.m'))
    expect(metadata.asked[0]?.headers.get('metadata-flavor')).toBe('Google')
  })

  test('that a page answers instead of a token is none', async () => {
    const path = '/computeMetadata/v1/instance/service-accounts/default/token'
    const metadata = startServer({ [`GET ${path}`]: () => new Response('<html>login</html>') })
    const reason = await loginOf({ kind: 'google', environment: { GCE_METADATA_HOST: metadata.host } })
    expect(reason).toBe('the metadata server: it answered with something else than a JSON object')
  })
})

describe('a login at Entra', () => {
  const oneHour = () => Response.json({ access_token: 'ey.a', expires_in: 3_599 })

  test('is a token for a secret, or for a workload’s token', async () => {
    const entra = startServer({ 'POST /t1/oauth2/v2.0/token': oneHour })
    const environment = { AZURE_AUTHORITY_HOST: entra.url, AZURE_TENANT_ID: 't1', AZURE_CLIENT_ID: 'c1' }
    expect(await loginOf({ kind: 'entra', environment, settings: { client_secret: 's' } })).toEqual(
      token('ey.a'),
    )
    const file = fileWith('outer')
    await loginOf({ kind: 'entra', environment: { ...environment, AZURE_FEDERATED_TOKEN_FILE: file } })
    const common = {
      grant_type: 'client_credentials',
      client_id: 'c1',
      scope: 'https://cognitiveservices.azure.com/.default',
    }
    expect(entra.asked.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
      { ...common, client_secret: 's' },
      {
        ...common,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: 'outer',
      },
    ])
  })

  test('is a managed identity’s, of the service or of the machine', async () => {
    const managed = startServer({
      'GET /msi': oneHour,
      'GET /metadata/identity/oauth2/token': () =>
        Response.json({ access_token: 'ey.m', expires_on: String(Math.floor(Date.now() / 1000) + 3_600) }),
    })
    const service = { IDENTITY_ENDPOINT: `${managed.url}/msi`, IDENTITY_HEADER: 'h' }
    expect(await loginOf({ kind: 'entra', environment: service, settings: { client_id: 'c1' } })).toEqual(
      token('ey.a'),
    )
    const machine = { AZURE_POD_IDENTITY_AUTHORITY_HOST: managed.url }
    expect(await loginOf({ kind: 'entra', environment: machine })).toEqual(token('ey.m'))
    expect(
      managed.asked.map(({ path, headers }) => [
        path,
        headers.get('x-identity-header'),
        headers.get('metadata'),
      ]),
    ).toEqual([
      [
        '/msi?api-version=2019-08-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=c1',
        'h',
        null,
      ],
      [
        '/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com',
        null,
        'true',
      ],
    ])
  })

  test('without a tenant says what to set', async () => {
    expect(await loginOf({ kind: 'entra', settings: { client_secret: 's' } })).toBe(
      'the client secret: the tenant is not known; set "tenant_id" or AZURE_TENANT_ID',
    )
  })
})

describe('a login at a workspace', () => {
  test('of Databricks is a token for the service principal, from the workspace itself', async () => {
    const workspace = startServer({
      'POST /oidc/v1/token': () =>
        Response.json({ access_token: 'dapi', expires_in: 3_600, token_type: 'Bearer' }),
    })
    const baseUrl = `${workspace.url}/serving-endpoints`
    const settings = { client_id: 'c1', client_secret: 's1' }
    expect(await loginOf({ kind: 'databricks', baseUrl, settings })).toEqual(token('dapi'))
    const [{ headers, body } = { headers: new Headers(), body: '' }] = workspace.asked
    expect(headers.get('authorization')).toBe(`Basic ${btoa('c1:s1')}`)
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'all-apis',
    })
    expect(await loginOf({ kind: 'databricks', baseUrl, settings: { client_id: 'c1' } })).toContain(
      'DATABRICKS_CLIENT_SECRET',
    )
  })

  test('of Snowflake is a token that the key pair signs, or one of a file', async () => {
    const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' })
    const login = await loginOf({
      kind: 'snowflake',
      baseUrl: 'https://myorg-acct1.snowflakecomputing.com/api/v2/cortex/v1',
      settings: { user: 'gateway', private_key_file: fileWith(pem) },
    })
    const secret = typeof login === 'object' && login?.type === 'header' ? login.secret : ''
    const { payload } = await jwtVerify(secret, pair.publicKey)
    const der = pair.publicKey.export({ type: 'spki', format: 'der' })
    const fingerprint = new Bun.CryptoHasher('sha256').update(der).digest('base64')
    expect(payload.sub).toBe('MYORG-ACCT1.GATEWAY')
    expect(payload.iss).toBe(`MYORG-ACCT1.GATEWAY.SHA256:${fingerprint}`)
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(3_600)
    const file = fileWith('oauth-token\n')
    expect(await loginOf({ kind: 'snowflake', settings: { token_file: file } })).toEqual(token('oauth-token'))
    expect(
      await loginOf({ kind: 'snowflake', settings: { user: 'u', private_key_file: fileWith('x') } }),
    ).toContain('has no private key that can be read')
  })
})
