import { idleLimitOf, type KeyChanges, type KeyRecord } from '../../access/key-record.ts'
import type { CreatedKey } from '../../access/keys.ts'
import { openPolicy, parsePolicy, renderPolicy } from '../../access/policy.ts'
import { parseRates, renderRates, unlimitedRates } from '../../access/rate-rules.ts'
import type { UsageTotals } from '../../billing/ledger/accounts.ts'
import type { Principal } from '../../canonical/principal.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { latestExpiryMs } from '../../core/limits/access.ts'
import { parseCredits, toCredits } from '../../core/money.ts'
import { nextTurn } from '../../core/turns.ts'
import { parseField } from '../../formats/field-error.ts'
import { parseJsonBody } from '../../json/json-body.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { withPageNumbers } from '../page-numbers.ts'
import { type Authenticated, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'
import { readBody, requireJson } from '../request-body.ts'
import { createKeySchema, keyListQuerySchema, rotateKeySchema, updateKeySchema } from '../schemas/keys.ts'

/** The bound of a body: lists of a thousand models by name, and the rest is short. */
const keyBodyBytesMax = 1_048_576
/** Less than half of a nanocredit. */
const smallestCredits = 1e-10
/** Keys whose usage one turn of the event loop sums. */
const keysPerTurn = 8

const group = { group: 'settings', access: 'management' } as const

/** The keys of an organization, for management keys: list, create, read, change, rotate, delete. */
export function keyRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const { keys } = dependencies
  const one = { ...group, path: '/keys/:hash' } as const
  const show = async (key: KeyRecord, principal: Principal) =>
    jsonResponse({ data: await describe(key, principal, dependencies) })
  return [
    {
      ...group,
      method: 'GET',
      path: '/keys',
      name: 'keys_list',
      handle: withPrincipal(async ({ principal, query }) =>
        jsonResponse({ data: await listKeys(principal, query(), dependencies) }),
      ),
    },
    {
      ...one,
      method: 'GET',
      name: 'keys_read',
      handle: withPrincipal(async ({ principal, params: { hash = '' } }) =>
        show(await keys.loadCurrent(principal.organizationId, hash), principal),
      ),
    },
    {
      ...one,
      method: 'PATCH',
      name: 'keys_update',
      handle: withPrincipal(async (exchange) => {
        const { principal } = exchange
        const { hash = '' } = exchange.params
        const fields = await readFields(exchange, updateKeySchema)
        const before = await keys.loadCurrent(principal.organizationId, hash)
        if (fields.disabled === true) refuseOwn(principal, hash, 'disable')
        const changes = changesOf(fields, before, dependencies)
        return show(await keys.update(principal.organizationId, hash, changes), principal)
      }),
    },
    {
      ...one,
      method: 'DELETE',
      name: 'keys_delete',
      handle: withPrincipal(async ({ principal, params: { hash = '' } }) => {
        refuseOwn(principal, hash, 'delete')
        await keys.delete(principal.organizationId, hash)
        return jsonResponse({ deleted: true })
      }),
    },
    ...secretRoutes(dependencies),
  ]
}

/** The two operations whose answers have a secret. */
function secretRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const { keys } = dependencies
  const show = async ({ key, secret }: CreatedKey, principal: Principal, status: number) =>
    jsonResponse({ data: await describe(key, principal, dependencies), key: secret }, status)
  return [
    {
      ...group,
      method: 'POST',
      path: '/keys',
      name: 'keys_create',
      handle: withPrincipal(async (exchange) => {
        const made = newKeyOf(await readFields(exchange, createKeySchema), exchange.principal, dependencies)
        return show(await keys.create(made), exchange.principal, 201)
      }),
    },
    {
      ...group,
      method: 'POST',
      path: '/keys/:hash/rotate',
      name: 'keys_rotate',
      handle: withPrincipal(async (exchange) => {
        const { principal } = exchange
        const { hash = '' } = exchange.params
        const { overlap_seconds: seconds } = await readFields(exchange, rotateKeySchema)
        return show(await keys.rotate(principal.organizationId, hash, seconds * 1000), principal, 200)
      }),
    },
  ]
}

async function readFields<T>(
  { request }: Authenticated,
  schema: Parameters<typeof parseField<T>>[0],
): Promise<T> {
  requireJson(request)
  return parseField(schema, '', parseJsonBody(await readBody(request, keyBodyBytesMax)))
}

async function listKeys(
  principal: Principal,
  query: URLSearchParams,
  dependencies: HttpDependencies,
): Promise<Record<string, unknown>[]> {
  const asked = parseField(keyListQuerySchema, '', withPageNumbers(query))
  requireOwnWorkspace(asked.workspace_id, principal)
  const { kind = 'inference', limit = 100, offset = 0 } = asked
  const page = await dependencies.keys.list(principal.organizationId, {
    offset,
    limit,
    includeDisabled: asked.include_disabled === 'true',
    kind,
  })
  const shown: Record<string, unknown>[] = []
  for (const [index, key] of page.entries()) {
    if (index % keysPerTurn === 0) await nextTurn()
    shown.push(await describe(key, principal, dependencies))
  }
  return shown
}

type NewKeyFields = ReturnType<typeof createKeySchema.parse>
type ChangedFields = ReturnType<typeof updateKeySchema.parse>

function newKeyOf(fields: NewKeyFields, principal: Principal, { clock }: Pick<HttpDependencies, 'clock'>) {
  const { kind = 'inference', ...rules } = fields.headrace ?? {}
  requireOwnWorkspace(fields.workspace_id, principal)
  const changes = settingsOf({ ...fields, headrace: rules }, clock.nowMs())
  refuseIdleLimit(changes, { kind, limitNanocredits: null })
  return {
    organizationId: principal.organizationId,
    kind,
    name: fields.name,
    limitNanocredits: changes.limitNanocredits ?? null,
    limitReset: changes.limitReset ?? null,
    expiresAtMs: changes.expiresAtMs ?? null,
    policy: { ...openPolicy, ...changes.policy },
    rates: { ...unlimitedRates, ...changes.rates },
  }
}

function changesOf(
  fields: ChangedFields,
  before: KeyRecord,
  { clock }: Pick<HttpDependencies, 'clock'>,
): KeyChanges {
  const changes = settingsOf(fields, clock.nowMs())
  refuseIdleLimit(changes, before)
  return {
    ...changes,
    ...(fields.name === undefined ? {} : { name: fields.name }),
    ...(fields.disabled === undefined ? {} : { disabled: fields.disabled }),
    // A reset without its limit would return with the next limit, long after anyone remembers it.
    ...(changes.limitNanocredits === null ? { limitReset: null } : {}),
  }
}

/** An amount far below the smallest unit of money is nothing, however small it is. */
function limitOf(credits: number): bigint {
  return credits < smallestCredits ? 0n : parseCredits(credits)
}

/** The limit of a key, as a change of it. */
export function limitChangesOf({
  limit,
  limit_reset: limitReset,
}: Pick<ChangedFields, 'limit' | 'limit_reset'>): Pick<KeyChanges, 'limitNanocredits' | 'limitReset'> {
  return {
    ...(limit === undefined ? {} : { limitNanocredits: limit === null ? null : limitOf(limit) }),
    ...(limitReset === undefined ? {} : { limitReset }),
  }
}

/** The members that a new key and a change of one share. */
function settingsOf(fields: Omit<ChangedFields, 'name' | 'disabled'>, nowMs: number): KeyChanges {
  const { expires_at: expiresAt, headrace: { policy, rates } = {} } = fields
  return {
    ...limitChangesOf(fields),
    ...(expiresAt === undefined
      ? {}
      : { expiresAtMs: expiresAt === null ? null : expiryOf(expiresAt, nowMs) }),
    ...(policy === undefined ? {} : { policy: parsePolicy(policy) }),
    ...(rates === undefined ? {} : { rates: parseRates(rates) }),
  }
}

function expiryOf(expiresAt: string, nowMs: number): number {
  const atMs = Date.parse(expiresAt)
  if (atMs > nowMs && atMs <= latestExpiryMs) return atMs
  throw fieldError('expires_at', 'must be a time to come, before the year 10000.')
}

function refuseIdleLimit(changes: KeyChanges, key: Pick<KeyRecord, 'kind' | 'limitNanocredits'>): void {
  const idle = idleLimitOf(changes, key)
  if (idle === 'reset') throw fieldError('limit_reset', 'is about a limit: give "limit" too.')
  if (idle === 'management')
    throw fieldError(
      'limit',
      'and the rates are about calls, and a management key makes none: leave them out.',
    )
}

/** Who disables the key of the request itself, or deletes it, may have no other one. */
function refuseOwn({ keyHash }: Principal, hash: string, verb: 'disable' | 'delete'): void {
  if (keyHash !== hash) return
  throw fieldError('hash', `names the key of this request: ${verb} it with another management key.`)
}

/** Throws `not_found` for a workspace that is not that of the key. */
export function requireOwnWorkspace(workspaceId: string | undefined, principal: Principal): void {
  if (workspaceId === undefined || workspaceId === principal.workspaceId) return
  throw new GatewayError('not_found', 'There is no workspace with this id.', { param: 'workspace_id' })
}

async function describe(
  key: KeyRecord,
  { workspaceId }: Principal,
  { accounts }: Pick<HttpDependencies, 'accounts'>,
): Promise<Record<string, unknown>> {
  const used = await accounts.readKeyUsage(key.keyId)
  const { limitNanocredits: limit } = key
  return {
    hash: key.keyHash,
    name: key.name,
    label: key.label,
    disabled: key.disabled,
    limit: limit === null ? null : toCredits(limit),
    limit_remaining: limit === null ? null : toCredits(limit - spentIn(key.limitReset, used)),
    limit_reset: key.limitReset,
    include_byok_in_limit: false,
    usage: toCredits(used.total),
    usage_daily: toCredits(used.daily),
    usage_weekly: toCredits(used.weekly),
    usage_monthly: toCredits(used.monthly),
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    created_at: isoOf(key.createdAtMs),
    updated_at: isoOf(key.updatedAtMs),
    expires_at: isoOf(key.expiresAtMs),
    creator_user_id: null,
    workspace_id: workspaceId,
    external_user: null,
    headrace: {
      id: key.keyId,
      kind: key.kind,
      policy: JSON.parse(renderPolicy(key.policy)) as unknown,
      rates: JSON.parse(renderRates(key.rates)) as unknown,
    },
  }
}

/** What a key has spent in the window of its limit. */
function spentIn(reset: KeyRecord['limitReset'], used: UsageTotals): bigint {
  return reset === null ? used.total : used[reset]
}

function isoOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString()
}
