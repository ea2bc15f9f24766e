import { afterAll, expect, test } from 'bun:test'
import { OpenRouter } from '@openrouter/sdk'
import * as errors from '@openrouter/sdk/models/errors'
import { startTestGateway } from '../support/gateway.ts'

// The official client drives every management method that the gateway has: it sends the call, and reads the answer by its
// own schemas. What it cannot call is listed by hand below, and a method that is in neither list fails.

const gateway = await startTestGateway({ credits: '5' })
const serverURL = gateway.listen()
const clientOf = (apiKey: string) => new OpenRouter({ apiKey, serverURL, retryConfig: { strategy: 'none' } })
const manager = clientOf(gateway.managementKey)
const caller = clientOf(gateway.key)
const called = new Set<string>()
afterAll(async () => {
  console.log(
    `@openrouter/sdk: ${called.size} management methods called and read; ${Object.keys(missing).length} are not served`,
  )
  await gateway.stop()
})

/** Methods of inference and of the public catalog, which other tests drive. */
const driven: Readonly<Record<string, string>> = {
  'chat.send': 'test/e2e/sdk-openrouter.test.ts',
  'embeddings.generate': 'test/e2e/sdk-openrouter.test.ts',
  'embeddings.listModels': 'test/e2e/sdk-openrouter.test.ts',
  'endpoints.list': 'test/e2e/sdk-openrouter.test.ts',
  'endpoints.listZdrEndpoints': 'test/e2e/sdk-openrouter.test.ts',
  'models.count': 'test/e2e/sdk-openrouter.test.ts',
  'models.get': 'test/e2e/sdk-openrouter.test.ts',
  'models.list': 'test/e2e/sdk-openrouter.test.ts',
  'models.listForUser': 'test/e2e/sdk-openrouter.test.ts',
  'providers.list': 'test/e2e/sdk-openrouter.test.ts',
  'stt.createTranscription': 'test/e2e/sdk-openrouter.test.ts',
  'stt.createTranscriptionMultipart': 'test/e2e/sdk-openrouter.test.ts',
  'tts.createSpeech': 'test/e2e/sdk-openrouter.test.ts',
  'responses.send': 'test/contract/responses.test.ts',
  'beta.responses.send': 'test/contract/responses.test.ts',
  'rerank.rerank': 'test/contract/rerank.test.ts',
}

const isPlanned = 'docs/design.md names it for later; no issue has it yet'
const isOfAnotherKind = 'of the public service alone; no issue brings it'
/** What this client can call and the gateway does not serve: why, or which issue brings it. */
const missing: Readonly<Record<string, string>> = {
  'alpha.decisions.create': isOfAnotherKind,
  'benchmarks.getBenchmarks': isOfAnotherKind,
  'byok.create': isPlanned,
  'byok.delete': isPlanned,
  'byok.get': isPlanned,
  'byok.list': isPlanned,
  'byok.update': isPlanned,
  'classifications.getTaskClassifications': isOfAnotherKind,
  'containers.downloadContainerFileContent': isOfAnotherKind,
  'containers.getContainerFile': isOfAnotherKind,
  'containers.listContainerFiles': isOfAnotherKind,
  'containers.promoteContainerFile': isOfAnotherKind,
  'datasets.getAppRankings': isOfAnotherKind,
  'datasets.getRankingsDaily': isOfAnotherKind,
  'datasets.getSessionCost': isOfAnotherKind,
  'guardrails.bulkAssignKeys': isPlanned,
  'guardrails.bulkAssignMembers': isPlanned,
  'guardrails.bulkUnassignKeys': isPlanned,
  'guardrails.bulkUnassignMembers': isPlanned,
  'guardrails.create': isPlanned,
  'guardrails.delete': isPlanned,
  'guardrails.get': isPlanned,
  'guardrails.list': isPlanned,
  'guardrails.listGuardrailKeyAssignments': isPlanned,
  'guardrails.listGuardrailMemberAssignments': isPlanned,
  'guardrails.listKeyAssignments': isPlanned,
  'guardrails.listMemberAssignments': isPlanned,
  'guardrails.update': isPlanned,
  'images.generate': isPlanned,
  'images.listModelEndpoints': isPlanned,
  'images.listModels': isPlanned,
  'interns.chat': isOfAnotherKind,
  'interns.createIntern': isOfAnotherKind,
  'interns.deleteIntern': isOfAnotherKind,
  'interns.getIntern': isOfAnotherKind,
  'interns.listInterns': isOfAnotherKind,
  'interns.provisionIntern': isOfAnotherKind,
  'interns.suspendIntern': isOfAnotherKind,
  'interns.updateIntern': isOfAnotherKind,
  'oAuth.createAuthCode': isOfAnotherKind,
  'oAuth.createAuthorizationUrl': isOfAnotherKind,
  'oAuth.createOauthToken': isOfAnotherKind,
  'oAuth.createSHA256CodeChallenge': isOfAnotherKind,
  'oAuth.exchangeAuthCodeForAPIKey': isOfAnotherKind,
  'oAuth.listOauthJwks': isOfAnotherKind,
  'observability.create': 'broadcasts of the configuration take its place (docs/configuration.md)',
  'observability.delete': 'broadcasts of the configuration take its place (docs/configuration.md)',
  'observability.get': 'broadcasts of the configuration take its place (docs/configuration.md)',
  'observability.list': 'broadcasts of the configuration take its place (docs/configuration.md)',
  'observability.update': 'broadcasts of the configuration take its place (docs/configuration.md)',
  'presets.createPresetsChatCompletions': isPlanned,
  'presets.createPresetsMessages': isPlanned,
  'presets.createPresetsResponses': isPlanned,
  'presets.get': isPlanned,
  'presets.getVersion': isPlanned,
  'presets.list': isPlanned,
  'presets.listVersions': isPlanned,
  'scim.create': isOfAnotherKind,
  'scim.createSyncJob': isOfAnotherKind,
  'scim.delete': isOfAnotherKind,
  'scim.getSyncJob': isOfAnotherKind,
  'scim.listGroups': isOfAnotherKind,
  'scim.listMappings': isOfAnotherKind,
  'scim.read': isOfAnotherKind,
  'scim.update': isOfAnotherKind,
  'systemOne.create': isOfAnotherKind,
  'vault.copyVaultSecretsToIntern': isOfAnotherKind,
  'vault.deleteInternVaultSecret': isOfAnotherKind,
  'vault.deleteVaultSecret': isOfAnotherKind,
  'vault.listInternVaultSecrets': isOfAnotherKind,
  'vault.listVaultSecrets': isOfAnotherKind,
  'vault.storeInternVaultSecret': isOfAnotherKind,
  'vault.storeVaultSecret': isOfAnotherKind,
  'videoGeneration.generate': isPlanned,
  'videoGeneration.getGeneration': isPlanned,
  'videoGeneration.getVideoContent': isPlanned,
  'videoGeneration.listVideosModels': isPlanned,
  'workspaces.bulkAddMembers': isPlanned,
  'workspaces.bulkRemoveMembers': isPlanned,
  'workspaces.create': isPlanned,
  'workspaces.delete': isPlanned,
  'workspaces.deleteBudget': isPlanned,
  'workspaces.get': isPlanned,
  'workspaces.getBudget': isPlanned,
  'workspaces.list': isPlanned,
  'workspaces.listBudgets': isPlanned,
  'workspaces.listMembers': isPlanned,
  'workspaces.setBudget': isPlanned,
  'workspaces.update': isPlanned,
}

/** Notes that a method was called; the client throws what it cannot read. */
function calling<T>(method: string, call: () => Promise<T>): Promise<T> {
  called.add(method)
  return call()
}

const model = 'openai/gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'Say hello' }]
async function chat(client: OpenRouter): Promise<string> {
  const answer = await client.chat.send({ chatRequest: { model, messages, stream: false } })
  if (!('choices' in answer)) throw new Error('a stream came where none was asked for')
  return answer.id
}

test('keys: created with a limit and an expiry, listed, read, changed, disabled, deleted', async () => {
  const expiresAt = new Date('2031-01-31T00:00:00Z')
  const made = await calling('apiKeys.create', () =>
    manager.apiKeys.create({
      requestBody: { name: 'by the client', limit: 2, limitReset: 'monthly', expiresAt },
    }),
  )
  const { hash } = made.data
  expect([made.key.length > 20, made.data.limit, made.data.expiresAt]).toEqual([true, 2, expiresAt])
  await chat(clientOf(made.key))
  const own = await calling('apiKeys.getCurrentKeyMetadata', () =>
    clientOf(made.key).apiKeys.getCurrentKeyMetadata(),
  )
  expect([own.data.limit, own.data.isManagementKey]).toEqual([2, false])
  const listed = await calling('apiKeys.list', () => manager.apiKeys.list({ includeDisabled: true }))
  expect(listed.data.map((key) => key.hash)).toContain(hash)
  const read = await calling('apiKeys.get', () => manager.apiKeys.get({ hash }))
  expect([read.data.name, read.data.usage > 0]).toEqual(['by the client', true])
  const changed = await calling('apiKeys.update', () =>
    manager.apiKeys.update({ hash, requestBody: { name: 'renamed', disabled: true, limit: null } }),
  )
  expect([changed.data.name, changed.data.disabled, changed.data.limit]).toEqual(['renamed', true, null])
  expect(await calling('apiKeys.delete', () => manager.apiKeys.delete({ hash }))).toEqual({ deleted: true })
})

test('credits, and the people of the organization', async () => {
  const { data } = await calling('credits.getCredits', () => manager.credits.getCredits())
  expect(data.totalCredits).toBe(5)
  const answer = await calling('organization.listMembers', () =>
    manager.organization.listMembers({ limit: 10 }),
  )
  const page = 'result' in answer ? answer.result : answer
  expect(page.totalCount).toBe(page.data.length)
})

test('activity and analytics: vocabulary, sums by day, hour, model, provider and key, with filters', async () => {
  await chat(caller)
  const activity = await calling('analytics.getUserActivity', () => manager.analytics.getUserActivity({}))
  expect(Array.isArray(activity.data)).toBe(true)
  const meta = await calling('analytics.getAnalyticsMeta', () => manager.analytics.getAnalyticsMeta({}))
  expect(meta.data.dimensions.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['model', 'provider', 'api_key_id']),
  )
  for (const granularity of ['hour', 'day'] as const) {
    for (const dimension of ['model', 'provider', 'api_key_id']) {
      const { data } = await calling('analytics.queryAnalytics', () =>
        manager.analytics.queryAnalytics({
          requestBody: {
            metrics: ['usage', 'request_count', 'error_rate', 'latency_p50'],
            dimensions: [dimension],
            granularity,
            filters: [{ field: 'model', operator: 'eq', value: model }],
          },
        }),
      )
      expect([data.metadata.truncated, data.data.length > 0]).toEqual([false, true])
    }
  }
})

test('a generation: read, its content not kept, and what somebody thinks of it', async () => {
  const id = await chat(caller)
  const generation = await calling('generations.getGeneration', () =>
    manager.generations.getGeneration({ id }),
  )
  expect([generation.data.id, generation.data.model]).toEqual([id, model])
  const content = await calling('generations.listGenerationContent', () =>
    manager.generations.listGenerationContent({ id }),
  ).catch((error: unknown) => error)
  expect(content).toBeInstanceOf(errors.NotFoundResponseError)
  const told = await calling('generations.submitFeedback', () =>
    manager.generations.submitFeedback({
      submitGenerationFeedbackRequest: { generationId: id, category: 'latency', comment: 'slow' },
    }),
  )
  expect(told.data.success).toBe(true)
})

test('a generation that no provider answered parses too', async () => {
  await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'status=500' }])
  const failed = await gateway.post('/chat/completions', { model, messages })
  await gateway.admin('faults', [])
  expect(failed.status).toBe(502)
  const id = failed.headers.get('x-generation-id') ?? ''
  expect(id).toStartWith('gen-')
  const read = async () => manager.generations.getGeneration({ id })
  // The log is written within a second.
  const waitUntilMs = Date.now() + 5_000
  let generation = await read().catch((error: unknown) => error)
  while (generation instanceof errors.NotFoundResponseError && Date.now() < waitUntilMs) {
    await Bun.sleep(100)
    generation = await read().catch((error: unknown) => error)
  }
  expect(generation).toMatchObject({
    data: {
      id,
      model,
      totalCost: 0,
      cancelled: false,
      providerResponses: expect.arrayContaining([expect.objectContaining({ status: 500 })]),
    },
  })
})

test('files: uploaded, listed, read, downloaded where they may be, deleted', async () => {
  const file = new File(['The wheel turns.'], 'note.txt')
  const upload = await calling('files.upload', () => caller.files.upload({ requestBody: { file } }))
  const { id: fileId } = upload as { id: string }
  const listed = await calling('files.list', () => caller.files.list({ limit: 10 }))
  const found: string[] = []
  for await (const page of listed) {
    const { result } = page as { result: { data: { id: string }[] } }
    found.push(...result.data.map(({ id }) => id))
  }
  expect(found).toEqual([fileId])
  const read = await calling('files.retrieve', () => caller.files.retrieve({ fileId }))
  expect(read).toMatchObject({ filename: 'note.txt', downloadable: false })
  const content = await calling('files.download', () => caller.files.download({ fileId })).catch(
    (error: unknown) => error,
  )
  expect(content).toBeInstanceOf(errors.OpenRouterError)
  expect(await calling('files.delete', () => caller.files.delete({ fileId }))).toMatchObject({ id: fileId })
})

/** Every method of the client, by its path. */
function methodsOf(part: object, path: readonly string[] = []): string[] {
  const proto = Object.getPrototypeOf(part) as object
  return Object.entries(Object.getOwnPropertyDescriptors(proto)).flatMap(([name, { get, value }]) => {
    if (get) return methodsOf(get.call(part) as object, [...path, name])
    return typeof value === 'function' && name !== 'constructor' && path.length > 0
      ? [[...path, name].join('.')]
      : []
  })
}

test('every method of the client is driven here, driven elsewhere, or listed as not served', () => {
  const all = methodsOf(manager).toSorted()
  expect(all.length).toBeGreaterThan(100)
  const known = [...called, ...Object.keys(driven), ...Object.keys(missing)]
  expect([...new Set(known)].toSorted()).toEqual(all)
})

test('what is listed as not served is not served', async () => {
  for (const path of ['/guardrails', '/byok', '/workspaces', '/presets', '/observability/destinations'])
    expect([path, (await gateway.get(path, { key: gateway.managementKey })).status]).toEqual([path, 404])
})
