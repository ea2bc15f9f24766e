import { expect, test } from 'bun:test'
import { mergePolicies, openPolicy, parsePolicy, renderPolicy } from './policy.ts'
import { parseOrganizationRates, parseRates, renderRates } from './rate-rules.ts'
import { parseColumn } from './stored-json.ts'
import { checkImportedSecret, hashSecret, maskSecret, newSecret } from './secret.ts'

test('both allow-lists count, prohibitions add up, and a flag holds when either policy sets it', () => {
  const organization = {
    ...openPolicy,
    allowedModels: ['a/x', 'a/y'],
    ignoredProviders: ['one'],
    requireZdr: true,
  }
  const key = { ...openPolicy, allowedModels: ['a/y', 'a/z'], ignoredProviders: ['two', 'one'] }
  expect(mergePolicies(organization, key)).toEqual({
    allowedModels: ['a/x', 'a/y'],
    allowedModelsOfKey: ['a/y', 'a/z'],
    ignoredModels: [],
    allowedProviders: null,
    ignoredProviders: ['one', 'two'],
    requireZdr: true,
    denyDataCollection: false,
  })
})

test('a single allow-list of models counts alone; two are both kept, because a name may stand for a model', () => {
  const left = { ...openPolicy, allowedModels: ['a/x'] }
  for (const alone of [mergePolicies(left, openPolicy), mergePolicies(openPolicy, left)]) {
    expect(alone.allowedModels).toEqual(['a/x'])
    expect(alone.allowedModelsOfKey).toBeUndefined()
  }
  expect(mergePolicies(left, { ...openPolicy, allowedModels: ['smart'] })).toMatchObject({
    allowedModels: ['a/x'],
    allowedModelsOfKey: ['smart'],
  })
})

test('a single allow-list of providers counts alone; two are both kept, because providers have several names', () => {
  const left = { ...openPolicy, allowedProviders: ['openai'] }
  const right = { ...openPolicy, allowedProviders: ['OpenAI'] }
  for (const alone of [mergePolicies(left, openPolicy), mergePolicies(openPolicy, left)]) {
    expect(alone.allowedProviders).toEqual(['openai'])
    expect(alone.allowedProvidersOfKey).toBeUndefined()
  }
  expect(mergePolicies(left, right)).toMatchObject({
    allowedProviders: ['openai'],
    allowedProvidersOfKey: ['OpenAI'],
  })
})

test('a policy survives being stored', () => {
  const policy = { ...openPolicy, allowedModels: ['a/x'], ignoredModels: ['b/y'], denyDataCollection: true }
  expect(parsePolicy(JSON.parse(renderPolicy(policy)))).toEqual(policy)
  expect(parsePolicy({})).toEqual(openPolicy)
  expect(parsePolicy({ allowed_models: null, enforce_zdr: null })).toEqual(openPolicy)
})

test('a policy that cannot be understood is refused by name, never read as no rule', () => {
  for (const [value, param] of [
    [[], 'policy'],
    [null, 'policy'],
    [{ allowed_model: ['x'] }, 'policy.allowed_model'],
    [{ allowed_models: [] }, 'policy.allowed_models'],
    [{ ignored_providers: 'x' }, 'policy.ignored_providers'],
    [{ ignored_models: [1] }, 'policy.ignored_models'],
    [{ enforce_zdr: 'yes' }, 'policy.enforce_zdr'],
  ] as const) {
    expect(() => parsePolicy(value)).toThrow(expect.objectContaining({ type: 'invalid_request', param }))
  }
  expect(() => parseColumn('{', 'policy_json', parsePolicy)).toThrow(
    expect.objectContaining({ type: 'internal' }),
  )
})

test('an update of rates keeps unnamed members, takes null as unlimited, and refuses other values', () => {
  expect(parseOrganizationRates({})).toEqual({
    requestsPerMinute: null,
    batchesPerMinute: 60,
    tokensPerMinute: null,
  })
  expect(parseOrganizationRates({ batches_per_minute: null })).toEqual({
    requestsPerMinute: null,
    batchesPerMinute: null,
    tokensPerMinute: null,
  })
  const rates = { requestsPerMinute: 5, batchesPerMinute: null, tokensPerMinute: null }
  expect(parseRates(JSON.parse(renderRates(rates)))).toEqual(rates)
  for (const value of [0, -1, 1.5, '5', 1e9]) {
    expect(() => parseRates({ requests_per_minute: value })).toThrow(
      expect.objectContaining({ param: 'rates.requests_per_minute' }),
    )
  }
})

test('secrets differ from each other, and the shown part of a secret does not reveal it', () => {
  const secret = newSecret()
  expect(secret).toMatch(/^sk-hr-v1-[0-9a-z]{64}$/)
  expect(newSecret()).not.toBe(secret)
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(maskSecret(secret)).toBe(`${secret.slice(0, 12)}...${secret.slice(-3)}`)
  expect(maskSecret('a-short-secret')).toBe('…')
  for (const bad of ['short', 'has a space in the middle', 'x'.repeat(513), 'ünprintable-characters']) {
    expect(() => checkImportedSecret(bad)).toThrow(expect.objectContaining({ param: 'key' }))
  }
})
