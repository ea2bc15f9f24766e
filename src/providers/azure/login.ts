import { bearer } from '../define-provider.ts'
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
} from '../../transport/identities/identity-world.ts'

/** The scope of a resource of Azure OpenAI; Foundry's own pages name `https://ai.azure.com/.default` besides. */
const usualScope = 'https://cognitiveservices.azure.com/.default'

/** Fetches a token at Entra: for the secret or the workload that the configuration names, else as Microsoft's own tools do. */
export const fetchEntraLogin: FetchLogin = ({ settings }, world) => {
  const { client_secret: clientSecret, token_file: tokenFile } = settings
  const secret = { name: 'the client secret', find: () => withSecret(settings, world) }
  const workload = { name: 'the federated token', find: () => withFederatedToken(settings, world) }
  if (clientSecret !== undefined) return firstOf([secret], world)
  if (tokenFile !== undefined) return firstOf([workload], world)
  const managed: IdentitySource[] = [
    { name: 'the managed identity of the service', find: () => ofAppService(settings, world) },
    { name: 'the managed identity of the machine', find: () => ofMachine(settings, world) },
  ]
  return firstOf([secret, workload, ...managed], world)
}

async function withSecret(settings: IdentitySettings, world: IdentityWorld): Promise<Grant | null> {
  const secret = settings.client_secret ?? world.env['AZURE_CLIENT_SECRET']
  if (!secret) return null
  return exchanged({ client_secret: secret }, settings, world)
}

/** A workload's token, from a file that is replaced while the process runs. */
async function withFederatedToken(settings: IdentitySettings, world: IdentityWorld): Promise<Grant | null> {
  const path = settings.token_file ?? world.env['AZURE_FEDERATED_TOKEN_FILE']
  if (!path) return null
  const token = await world.readFile(path)
  if (token === null) throw new LoginRefused(`there is no file ${path}`)
  const assertion = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: token.trim(),
  }
  return exchanged(assertion, settings, world)
}

async function exchanged(
  proof: Readonly<Record<string, string>>,
  { tenant_id: tenantId, client_id: clientId, scope = usualScope }: IdentitySettings,
  world: IdentityWorld,
): Promise<Grant> {
  const { env } = world
  const [tenant, client] = [tenantId ?? env['AZURE_TENANT_ID'], clientId ?? env['AZURE_CLIENT_ID']]
  if (!tenant) throw new LoginRefused('the tenant is not known; set "tenant_id" or AZURE_TENANT_ID')
  if (!client) throw new LoginRefused('the client is not known; set "client_id" or AZURE_CLIENT_ID')
  const authority = (env['AZURE_AUTHORITY_HOST'] || 'https://login.microsoftonline.com').replace(/\/+$/, '')
  const url = `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`
  const form = formOf({ grant_type: 'client_credentials', client_id: client, scope, ...proof })
  return tokenOf(jsonOf(await world.ask({ method: 'POST', url, ...form })), world)
}

/** App Service, Functions and Container Apps. */
async function ofAppService(
  { client_id: clientId, scope = usualScope }: IdentitySettings,
  world: IdentityWorld,
): Promise<Grant | null> {
  const [endpoint, header] = [world.env['IDENTITY_ENDPOINT'], world.env['IDENTITY_HEADER']]
  if (!endpoint || !header) return null
  const query = { 'api-version': '2019-08-01', ...resourceOf(scope), ...clientOf(clientId) }
  const url = `${endpoint}?${new URLSearchParams(query).toString()}`
  return tokenOf(
    jsonOf(await world.ask({ method: 'GET', url, headers: { 'x-identity-header': header } })),
    world,
  )
}

/** The metadata server of a virtual machine. `AZURE_POD_IDENTITY_AUTHORITY_HOST` names another one, as in Microsoft's tools. */
async function ofMachine(
  { client_id: clientId, scope = usualScope }: IdentitySettings,
  world: IdentityWorld,
): Promise<Grant | null> {
  const host = world.env['AZURE_POD_IDENTITY_AUTHORITY_HOST'] || 'http://169.254.169.254'
  const query = { 'api-version': '2018-02-01', ...resourceOf(scope), ...clientOf(clientId) }
  const url = `${host.replace(/\/+$/, '')}/metadata/identity/oauth2/token?${new URLSearchParams(query).toString()}`
  return tokenOf(jsonOf(await world.ask({ method: 'GET', url, headers: { metadata: 'true' } })), world)
}

function resourceOf(scope: string): { resource: string } {
  return { resource: scope.replace(/\/\.default$/, '') }
}

function clientOf(clientId: string | undefined): { client_id?: string } {
  return clientId === undefined ? {} : { client_id: clientId }
}

/** A managed identity's answer names the end of the token in Unix seconds, and may leave out its life. */
function tokenOf(body: Readonly<Record<string, unknown>>, world: IdentityWorld): Grant {
  const lifeMs =
    body['expires_in'] === undefined
      ? secondsIn(body, 'expires_on') - world.nowMs()
      : secondsIn(body, 'expires_in')
  return { login: { ...bearer, secret: textIn(body, 'access_token') }, lifeMs }
}
