import type { Principal } from '../../canonical/principal.ts'
import { toCredits } from '../../core/money.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type HttpRoute } from '../pipeline.ts'

/** Credits and the key in use, for both kinds of key. */
export function accountRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { method: 'GET', group: 'catalog', access: 'any' } as const
  return [
    {
      ...common,
      path: '/credits',
      name: 'credits',
      handle: withPrincipal(async ({ principal }) => {
        const { totalCredits, totalUsage } = await dependencies.accounts.readCredits(principal.organizationId)
        return jsonResponse({
          data: { total_credits: toCredits(totalCredits), total_usage: toCredits(totalUsage) },
        })
      }),
    },
    {
      ...common,
      path: '/key',
      name: 'key',
      handle: withPrincipal(async ({ principal }) =>
        jsonResponse({ data: await describeKey(principal, dependencies) }),
      ),
    },
  ]
}

async function describeKey(
  principal: Principal,
  dependencies: HttpDependencies,
): Promise<Record<string, unknown>> {
  const { keyLimitNanocredits: limit, keyLimitReset: reset } = principal
  const [key, used, remaining] = await Promise.all([
    dependencies.keys.load(principal.organizationId, principal.keyHash),
    dependencies.accounts.readKeyUsage(principal.keyId),
    dependencies.accounts.readKeyRemaining(principal),
  ])
  const perMinute = principal.rates.key.requestsPerMinute
  return {
    label: key.label,
    is_management_key: principal.keyKind === 'management',
    is_provisioning_key: principal.keyKind === 'management',
    is_free_tier: false,
    limit: limit === null ? null : toCredits(limit),
    limit_remaining: remaining === null ? null : toCredits(remaining),
    limit_reset: reset,
    include_byok_in_limit: false,
    usage: toCredits(used.total),
    usage_daily: toCredits(used.daily),
    usage_weekly: toCredits(used.weekly),
    usage_monthly: toCredits(used.monthly),
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    creator_user_id: null,
    organization_id: principal.organizationId,
    workspace_id: null,
    expires_at: key.expiresAtMs === null ? null : new Date(key.expiresAtMs).toISOString(),
    rate_limit: {
      requests: perMinute ?? -1,
      interval: perMinute === null ? '10s' : '60s',
      note: 'Deprecated by the contract; kept because clients require it. -1 means unlimited.',
    },
  }
}
