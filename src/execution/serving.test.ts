import { expect, test } from 'bun:test'
import { createCatalog } from '../catalog/catalog.ts'
import { parseListing } from '../catalog/listing.ts'
import { presetOf, toDeploymentSource } from '../providers/deployments.ts'
import { createServing } from './serving.ts'

test('a call keeps what was served when it began, though the catalog changes meanwhile', async () => {
  const source = toDeploymentSource({ preset: 'ollama', base_url: 'http://a/v1', weight: 1, models: [] })
  const catalog = createCatalog({ deployments: [source], nowMs: () => 0 })
  const serving = createServing(catalog, [source], presetOf)
  const before = serving()
  expect(serving()).toBe(before)
  await catalog.replaceDiscovered('ollama', parseListing({ data: [{ id: 'tiny' }] }))
  const after = serving()
  expect(before.catalog.models()).toEqual([])
  expect(after.catalog.models().map(({ id }) => id)).toEqual(['ollama/tiny'])
})

test('no endpoint carries the secret of its deployment', () => {
  const source = toDeploymentSource({
    preset: 'openai',
    api_key: 'sk-hush',
    headers: { 'x-team': 'hush-team' },
    query: { sig: 'hush-sig' },
    weight: 1,
    models: [{ id: 'openai/gpt-x' }],
  })
  const catalog = createCatalog({ deployments: [source], nowMs: () => 0 })
  const [endpoint] = catalog.current().endpointsOf('openai/gpt-x', 'language')
  expect(
    JSON.stringify(endpoint, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  ).not.toContain('hush')
  const credential = createServing(catalog, [source], presetOf)().credentialOf(source.deployment)
  expect(credential).toMatchObject({
    reference: { id: 'operator:openai', isByok: false },
    auth: { type: 'header', name: 'authorization', prefix: 'Bearer ', secret: 'sk-hush' },
  })
})
