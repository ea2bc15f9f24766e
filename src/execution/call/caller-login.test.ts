import { expect, test } from 'bun:test'
import { endpointOf } from '../../../test/simulation/billing-fixtures.ts'
import type { CaptureRow } from '../../billing/ledger/capture-row.ts'
import { createLearning } from '../../billing/metering/learning.ts'
import { joinPieces } from '../../core/body.ts'
import type { UpstreamTarget } from '../../canonical/credential.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { systemClock } from '../../core/clock.ts'
import type { GatewayError } from '../../core/errors.ts'
import { decodeMessagesRequest } from '../../formats/text/messages/read-request.ts'
import { presetOf, toDeploymentSource, type ProviderSettings } from '../../providers/deployments.ts'
import { createHealth } from '../../routing/health.ts'
import { createLimiter } from '../../routing/limiter.ts'
import { createStickyRoutes } from '../../routing/sticky.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { noFacts, type RequestScope } from './scope.ts'
import { runCall } from '../run-call.ts'
import { wholeText } from '../modalities/text-call.ts'

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 4 },
}

const refusal = { type: 'error', error: { type: 'authentication_error', message: 'OAuth token has expired' } }

/** One call with a login of the caller's own, to Anthropic as the operator has configured it. */
async function call(settings: Partial<ProviderSettings>, answer: { status: number; body: unknown }) {
  const source = toDeploymentSource({
    preset: 'anthropic',
    api_key: 'sk-operator',
    headers: { 'x-team': 'team-secret' },
    weight: 1,
    models: [],
    ...settings,
  })
  const endpoint = {
    ...endpointOf('language', { inputToken: 3_000_000_000n, outputToken: 15_000_000_000n }),
    deployment: source.deployment,
  }
  const sent: { request: UpstreamRequest; target: UpstreamTarget }[] = []
  const rows: CaptureRow[] = []
  const held: bigint[] = []
  const health = createHealth({ clock: systemClock })
  const dependencies = {
    clock: systemClock,
    learning: createLearning(),
    health,
    limiter: createLimiter({ clock: systemClock }),
    sticky: createStickyRoutes({ clock: systemClock }),
    random: () => 0,
    serving: () => ({
      catalog: {
        resolve: (base: string) => ({ base, variant: null }),
        endpointsOf: () => [endpoint],
        placesOf: () => null,
      },
      adaptersOf: () => presetOf('anthropic').adapters,
      credentialOf: () => source.credential,
    }),
    spendTokens: () => undefined,
    billing: {
      canAccept: () => true,
      databaseNowMs: () => 0,
      hold({ amount }: { amount: bigint }) {
        held.push(amount)
        return { id: 'hold_1', amount }
      },
      capture: async (_: unknown, row: CaptureRow) => void rows.push(row),
      release: () => undefined,
    },
    transport: {
      async send(request: UpstreamRequest, target: UpstreamTarget) {
        sent.push({ request, target })
        const bytes = new TextEncoder().encode(JSON.stringify(answer.body))
        return { status: answer.status, headers: new Headers(), readAll: async () => bytes }
      },
    },
    streamWatch: { keepAliveMs: 60_000 },
    warn: () => undefined,
  } as unknown as ExecutionDependencies
  const scope = {
    principal: {
      organizationId: 'org_a',
      workspaceId: 'ws_a',
      memberId: null,
      keyId: 'key_a',
      accountMode: 'prepaid',
      keyLimitNanocredits: null,
      constraints: {
        allowedModels: null,
        ignoredModels: [],
        allowedProviders: null,
        ignoredProviders: [],
        enforceZdr: false,
        denyDataCollection: false,
      },
    },
    requestId: 'req_1',
    signal: new AbortController().signal,
    priority: 'live',
    metadata: 'headrace',
    callerLogin: 'sk-ant-oat-caller',
    batch: null,
    facts: noFacts(),
  } as unknown as RequestScope
  const body = { model: 'a/m', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
  const asked = decodeMessagesRequest(new TextEncoder().encode(JSON.stringify(body)), {
    sessionIdHeader: null,
    betaHeader: 'oauth-2025-04-20',
  })
  const outcome = await runCall(wholeText, asked, scope, dependencies).catch((error: GatewayError) => error)
  const shown =
    'body' in outcome && Array.isArray(outcome.body)
      ? JSON.parse(new TextDecoder().decode(joinPieces(outcome.body)))
      : null
  return { outcome, shown, sent, rows, held, state: health.stateOf(endpoint) }
}

const allowed = { caller_logins: true }

test('a login of the caller’s goes to the provider’s own address and the call costs nothing', async () => {
  const { shown, sent, rows, held } = await call(allowed, { status: 200, body: message })
  expect(sent).toHaveLength(1)
  const [{ request, target } = { request: null, target: null }] = sent
  expect(target?.baseUrl).toBe('https://api.anthropic.com/v1')
  expect(target?.credential).toEqual({
    reference: { id: 'caller', isByok: true },
    auth: { type: 'header', name: 'authorization', prefix: 'Bearer ', secret: 'sk-ant-oat-caller' },
    // The operator's own headers, which may be secret, are left out.
    additions: { headers: { 'anthropic-version': '2023-06-01' }, query: {} },
  })
  expect(request?.headers['anthropic-beta']).toBe('oauth-2025-04-20')
  expect(held).toEqual([0n])
  expect(rows).toMatchObject([
    { credentialId: 'caller', costNanocredits: 0n, isUnpriced: false, usage: { inputTokens: 8 } },
  ])
  expect(shown.usage).toMatchObject({ cost: 0, is_byok: true })
  expect(shown.headrace_metadata).toMatchObject({ is_byok: true })
  expect(JSON.stringify(shown)).not.toContain('sk-ant-oat-caller')
})

test.each([
  ['the operator does not allow it', {}],
  ['the address is another one', { ...allowed, base_url: 'http://127.0.0.1:1/v1' }],
])('a login is not sent when %s: the operator’s key is used, and the call is paid', async (_, settings) => {
  const { sent, rows, held } = await call(settings, { status: 200, body: message })
  expect(sent[0]?.target.credential.auth).toMatchObject({ secret: 'sk-operator' })
  expect(rows).toMatchObject([{ credentialId: 'operator:anthropic', costNanocredits: 84_000n }])
  expect(held[0]).toBeGreaterThan(0n)
})

test('a refused login is a fault of the caller: no other credential is tried, and none counts as failed', async () => {
  const { outcome, sent, rows, state } = await call(allowed, { status: 401, body: refusal })
  expect(outcome).toMatchObject({ type: 'authentication', status: 401 })
  expect((outcome as GatewayError).message).toContain('refused the login')
  expect(sent).toHaveLength(1)
  expect(rows).toEqual([])
  expect(state).toBe('healthy')
})

test('a login that has reached its own limit does not count against the operator’s deployment, and costs nothing elsewhere', async () => {
  const limited = { type: 'error', error: { type: 'rate_limit_error', message: 'usage limit reached' } }
  const { outcome, sent, rows, held, state } = await call(allowed, { status: 429, body: limited })
  expect(outcome).toMatchObject({ type: 'upstream_rate_limited', status: 429 })
  expect(sent.every(({ target }) => target.credential.reference.id === 'caller')).toBe(true)
  expect([rows, held, state]).toEqual([[], [0n], 'healthy'])
})
