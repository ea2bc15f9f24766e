import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareGateway, type RealGateway, writeConfig } from '../../story/real-gateway.ts'
import { proofKey } from '../observed-gateway.ts'
import { type FakeCloud, startFakeCloud } from './fake-cloud.ts'

/** One kind of login, of which nothing but its server is a fake. */
export interface Kind {
  name: string
  preset: string
  model: string
  more?: Record<string, unknown>
  env: (cloud: FakeCloud, gateway: RealGateway) => Record<string, string>
  identity?: Record<string, unknown>
  base?: string
}

/** The private key of the service account. */
export const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})

function fileOf({ folder }: RealGateway, name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const noMetadata = { AWS_EC2_METADATA_DISABLED: 'true' }
const bedrock = {
  preset: 'amazon-bedrock',
  model: 'us.amazon.nova-2-lite-v1:0',
  more: { region: 'us-east-1' },
}
const vertex = {
  preset: 'vertex-ai',
  model: 'gemini-2.5-flash',
  more: { region: 'europe-west4', project: 'p1' },
  base: '/v1beta1/projects/p1/locations/europe-west4',
}
const azure = { preset: 'azure', model: 'gpt-4o', base: '/openai/v1' }

/** Every kind whose server can be named by a variable or by the configuration. */
export const kinds: readonly Kind[] = [
  {
    ...bedrock,
    name: 'role of an instance',
    env: ({ url }) => ({ AWS_EC2_METADATA_SERVICE_ENDPOINT: url }),
  },
  {
    ...bedrock,
    name: 'Pod Identity',
    env: ({ url }, gateway) => ({
      ...noMetadata,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: fileOf(gateway, 'pod-token', 'pod-token'),
    }),
  },
  {
    ...bedrock,
    name: 'web identity',
    env: ({ url }, gateway) => ({
      ...noMetadata,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/gateway',
      AWS_WEB_IDENTITY_TOKEN_FILE: fileOf(gateway, 'web-token', 'web-token'),
      AWS_ENDPOINT_URL_STS: url,
    }),
  },
  { ...vertex, name: 'metadata server of Google', env: ({ host }) => ({ GCE_METADATA_HOST: host }) },
  {
    ...vertex,
    name: 'service account',
    env: ({ url }, gateway) => ({
      GOOGLE_APPLICATION_CREDENTIALS: fileOf(
        gateway,
        'account.json',
        JSON.stringify({
          type: 'service_account',
          client_email: 'g@p.iam.gserviceaccount.com',
          private_key: pem,
          token_uri: `${url}/token`,
        }),
      ),
    }),
  },
  {
    ...azure,
    name: 'managed identity of a machine',
    env: ({ url }) => ({ AZURE_POD_IDENTITY_AUTHORITY_HOST: url }),
    identity: {},
  },
  {
    ...azure,
    name: 'client secret',
    env: ({ url }) => ({ AZURE_AUTHORITY_HOST: url }),
    identity: { tenant_id: 't1', client_id: 'c1', client_secret: 'entra-secret' },
  },
  {
    name: 'service principal of Databricks',
    preset: 'databricks',
    model: 'databricks-gpt-oss-120b',
    base: '/serving-endpoints',
    env: () => ({}),
    identity: { client_id: 'c1', client_secret: 'databricks-secret' },
  },
]

/** A gateway that runs, and the cloud that it asks. */
export interface Running {
  gateway: RealGateway
  cloud: FakeCloud
}

/** How the cloud is before the gateway starts, and more variables of the gateway. */
interface Prepared {
  prepare?: (cloud: FakeCloud) => void
  variables?: Record<string, string>
}

/** Starts a gateway with one cloud whose logins come from the fake, and another provider that needs none. */
export async function withKind<Result>(
  { preset, model, more, env, identity, base = '' }: Kind,
  prove: (running: Running) => Promise<Result>,
  { prepare, variables = {} }: Prepared = {},
): Promise<Result> {
  const cloud = startFakeCloud()
  prepare?.(cloud)
  const prices = { input_per_million: '1', output_per_million: '1' }
  const gateway = prepareGateway()
  writeConfig(gateway.folder, {
    providers: [
      {
        preset,
        id: 'cloud',
        base_url: `${cloud.url}${base}`,
        models: [{ id: 'cloud/model', upstream: model, modality: 'language', prices }],
        ...more,
        ...(identity === undefined ? {} : { identity }),
      },
      {
        preset: 'custom',
        id: 'own',
        base_url: `${cloud.url}/own`,
        discover: false,
        models: [{ id: 'own/model', prices }],
      },
    ],
  })
  try {
    await gateway.start({
      HEADRACE_BOOTSTRAP_KEY: proofKey,
      HEADRACE_BOOTSTRAP_CREDITS: '1000',
      ...env(cloud, gateway),
      ...variables,
    })
    return await prove({ gateway, cloud })
  } finally {
    await gateway.remove()
    await cloud.stop()
  }
}
