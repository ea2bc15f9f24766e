import { afterAll, expect, test } from 'bun:test'
import { at, sandboxProvider, startTestGateway } from '../support/gateway.ts'

// Sections 2.5 and 4.2: the settings of an organization.

const gateway = await startTestGateway({
  providers: (url) => [
    sandboxProvider(url),
    sandboxProvider(`${url}/p/second`, {
      preset: 'custom',
      id: 'acme',
      discover: false,
      models: [{ id: 'acme/large', upstream: 'gpt-4o', modality: 'language' }],
    }),
  ],
})
afterAll(() => gateway.stop())

const path = '/organization/settings'
const patch = (body: unknown, key: string | null = gateway.managementKey) =>
  gateway.request(path, { method: 'PATCH', body, key })
const patched = async (body: unknown, key?: string | null) => {
  const response = await patch(body, key)
  return { status: response.status, json: await response.json() }
}
const modelsOf = async (key: string | null, route = '/models') => {
  const { json } = await gateway.get(`${route}?limit=1000`, { key })
  return (json['data'] as { id: string }[]).map(({ id }) => id)
}

test('2.5.r1 id is the organization’s identifier', async () => {
  const { json } = await patched({ is_filtered_model_catalog_enabled: false })
  expect(at(json, 'data.id')).toBe(gateway.organizationId)
})

test('2.5.r2 the flag is a boolean, and stays as it was set', async () => {
  for (const flag of [true, false]) {
    const { json } = await patched({ is_filtered_model_catalog_enabled: flag })
    expect(at(json, 'data.is_filtered_model_catalog_enabled')).toBe(flag)
    const read = await gateway.get(path, { key: gateway.managementKey })
    expect(at(read.json, 'data.is_filtered_model_catalog_enabled')).toBe(flag)
  }
})

test('2.5.r3 with the flag on, a key’s model list is what that key can use; anonymous callers see all', async () => {
  const filtered = await gateway.addOrganization({ policy: { allowed_models: ['openai/gpt-4o-mini'] } })
  expect(await modelsOf(filtered.key)).toEqual(await modelsOf(null))
  await patched({ is_filtered_model_catalog_enabled: true }, filtered.managementKey)
  const own = await modelsOf(filtered.key)
  expect(own.filter((id) => !id.includes(':'))).toEqual(['openai/gpt-4o-mini'])
  expect(own).toEqual(await modelsOf(filtered.key, '/models/user'))
  const everybodys = await modelsOf(null)
  expect(everybodys).toContain('acme/large')
  expect(everybodys.length).toBeGreaterThan(own.length)
  expect(await modelsOf(gateway.key)).toEqual(everybodys)
})

test('4.2.r1 the settings changed are those of the key’s own organization', async () => {
  const other = await gateway.addOrganization()
  await patched({ is_filtered_model_catalog_enabled: false })
  const { json } = await patched({ is_filtered_model_catalog_enabled: true }, other.managementKey)
  expect(at(json, 'data.id')).toBe(other.organizationId)
  const own = await gateway.get(path, { key: gateway.managementKey })
  expect(at(own.json, 'data.is_filtered_model_catalog_enabled')).toBe(false)
})

test('4.2.r2 the body is is_filtered_model_catalog_enabled, a boolean, and nothing else', async () => {
  const wrong = [
    {},
    { is_filtered_model_catalog_enabled: null },
    { is_filtered_model_catalog_enabled: 'true' },
    { is_filtered_model_catalog_enabled: 1 },
    { is_filtered_model_catalog_enabled: true, name: 'x' },
    [],
    '',
    'x',
  ]
  for (const body of wrong) {
    const { status, json } = await patched(body)
    expect([JSON.stringify(body), status, at(json, 'error.code')]).toEqual([JSON.stringify(body), 400, 400])
  }
})

test('4.2.r3 the answer is the settings below data', async () => {
  const { status, json } = await patched({ is_filtered_model_catalog_enabled: false })
  expect(status).toBe(200)
  expect(json).toEqual({
    data: { id: gateway.organizationId, is_filtered_model_catalog_enabled: false },
  })
})

test('4.2.e400 invalid parameters are 400, and the message names the field', async () => {
  const { status, json } = await patched({ is_filtered_model_catalog_enabled: 'yes' })
  expect(status).toBe(400)
  expect(String(at(json, 'error.message'))).toContain('is_filtered_model_catalog_enabled')
})

test('4.2.e401 missing authentication is 401', async () => {
  for (const key of [null, 'nobody-has-this-key-01']) {
    const { status, json } = await patched({ is_filtered_model_catalog_enabled: true }, key)
    expect([status, at(json, 'error.code')]).toEqual([401, 401])
  }
})

test('4.2.e404 an organization that no longer exists is 404', async () => {
  const gone = await gateway.addOrganization()
  expect((await patched({ is_filtered_model_catalog_enabled: true }, gone.managementKey)).status).toBe(200)
  await gateway.deleteOrganization(gone.organizationId)
  const { status, json } = await patched({ is_filtered_model_catalog_enabled: false }, gone.managementKey)
  expect([status, at(json, 'error.code')]).toEqual([404, 404])
})

test('4.2.e500 settings that cannot be stored are 500', async () => {
  const leaving = await startTestGateway()
  await leaving.stop()
  const response = await leaving.request(path, {
    method: 'PATCH',
    body: { is_filtered_model_catalog_enabled: true },
    key: leaving.managementKey,
  })
  expect([response.status, at(await response.json(), 'error.code')]).toEqual([500, 500])
})

test('5.2 settings need a management key; an inference key is 403', async () => {
  const { status, json } = await patched({ is_filtered_model_catalog_enabled: true }, gateway.key)
  expect([status, at(json, 'error.code')]).toEqual([403, 403])
})
