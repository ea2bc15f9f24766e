import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startSimulator } from '../../../simulator/server.ts'
import type { ProviderSettings } from '../../providers/deployments.ts'
import { checkProviders, describeProvider } from './provider-checks.ts'

const file = '/etc/headrace.config.json'
let simulator: Awaited<ReturnType<typeof startSimulator>>
let page: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, quiet: true })
  page = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      request.url.includes('busy')
        ? new Response('busy', { status: 503 })
        : new Response('<html>hello</html>', { headers: { 'content-type': 'text/html' } }),
  })
})

afterAll(async () => {
  await simulator.stop()
  await page.stop(true)
})

const provider = (settings: Partial<ProviderSettings>): ProviderSettings => ({
  preset: 'custom',
  id: 'acme',
  weight: 1,
  models: [],
  base_url: `${simulator.url}/v1`,
  api_key: 'a-good-key',
  ...settings,
})

async function messageOf(
  settings: Partial<ProviderSettings>,
  env: Record<string, string> = {},
): Promise<string> {
  const [check] = await checkProviders([provider(settings)], { env, file })
  expect(check?.ok).toBe(false)
  expect(check?.message).not.toContain('\n')
  expect(check?.message).not.toContain('bad-key')
  return check?.message ?? ''
}

test('a provider that lists its models is fine, and a provider without a listing is not asked', async () => {
  const [asked, left] = await checkProviders(
    [provider({}), provider({ id: 'quiet', discover: false, base_url: 'http://127.0.0.1:1/v1' })],
    { env: {}, file },
  )
  expect(asked).toMatchObject({ provider: 'acme', ok: true })
  expect(asked?.message).toMatch(/^\d+ models$/)
  expect(left).toEqual({ provider: 'quiet', ok: true, message: 'is not asked for its models' })
})

test('a refused key names the variable it came from', async () => {
  const key = 'bad-key-123456'
  const message = await messageOf({ preset: 'openai', id: undefined, api_key: key }, { OPENAI_API_KEY: key })
  expect(message).toBe('the key was refused (status 401); check OPENAI_API_KEY')
})

test('a refused key of the file names the member and the file, whatever the environment has', async () => {
  const settings = { preset: 'openai', api_key: 'bad-key-123456' }
  const message = await messageOf(settings, { OPENAI_API_KEY: 'another' })
  expect(message).toBe(`the key was refused (status 401); check api_key of "acme" in ${file}`)
})

test('a key that cannot be sent in a header is not reported as a failure of the network', async () => {
  const key = 'sk-…'
  expect(await messageOf({ preset: 'openai', id: undefined, api_key: key }, { OPENAI_API_KEY: key })).toBe(
    'the key has characters that no key has, such as a line break; check OPENAI_API_KEY',
  )
})

test('a missing key is reported like a refused one', async () => {
  expect(await messageOf({ api_key: undefined })).toContain('check api_key of "acme"')
})

test('a base URL with a wrong path, without a server, or of a page names the base URL', async () => {
  const where = `base_url of "acme" in ${file}`
  const wrongs = [`${simulator.url}/wrong`, 'http://127.0.0.1:1/v1', `http://127.0.0.1:${page.port}/v1`]
  const messages = await Promise.all(wrongs.map((base_url) => messageOf({ base_url })))
  expect(messages[0]).toStartWith('there is no list of models (status 404); check')
  expect(messages[1]).toStartWith('cannot be reached; check the network and')
  expect(messages[2]).toStartWith('answers, but not with a list of models; check')
  for (const message of messages) expect(message).toContain(where)
})

test('a local server names the variable with its address', async () => {
  const base_url = 'http://127.0.0.1:1/v1'
  const settings = { preset: 'ollama', id: undefined, base_url, api_key: undefined }
  expect(await messageOf(settings, { OLLAMA_BASE_URL: base_url })).toContain('OLLAMA_BASE_URL')
})

test("a fault at a preset's own address is not blamed on a configuration file that does not exist", () => {
  const { message } = describeProvider(
    { deploymentId: 'openai', modelCount: null, failure: 'The provider could not be reached.' },
    { preset: 'openai', weight: 1, models: [], api_key: 'a-key' },
    { env: { OPENAI_API_KEY: 'a-key' }, file: null },
  )
  expect(message).toBe('cannot be reached; check the network. Known models stay offered')
})

test('a provider out of order is not blamed on the configuration', async () => {
  const message = await messageOf({ base_url: `http://127.0.0.1:${page.port}/busy` })
  expect(message).toContain('status 503')
  expect(message).not.toContain('check')
})

test('a provider that answers a wrong key with 400 is not taken for a wrong address', async () => {
  const base_url = `${simulator.url}/v1beta`
  const message = await messageOf({ preset: 'google-ai-studio', base_url, api_key: 'bad-key-123456' })
  expect(message).toContain('status 400')
  expect(message).toContain(`api_key of "acme" in ${file}`)
})

test('a server that does not answer in time is reported as such', () => {
  const failure = 'The call was ended before the provider had answered.'
  const check = describeProvider({ deploymentId: 'acme', modelCount: null, failure }, provider({}), {
    env: {},
    file,
  })
  expect(check.message).toContain('did not list its models in time')
})
