import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { KeyRecord } from './key-record.ts'
import type { KeyRepository } from './key-repository.ts'
import { makeKey } from './keys.ts'
import type { CreatedKey } from './keys.ts'
import type { OrganizationRecord } from './organization-record.ts'
import type { OrganizationRepository } from './organization-repository.ts'
import { openPolicy } from './policy.ts'
import { organizationRates } from './rate-rules.ts'
import { hashSecret } from './secret.ts'

/** What the first start is told. */
export interface BootstrapOptions {
  /** Null makes a `tracked` account; an amount makes a `prepaid` one, to which the caller grants it. */
  creditsNanocredits: bigint | null
  /** Secrets to use instead of made ones. */
  key: string | null
  managementKey: string | null
}

/** What the first start made. */
export interface Bootstrapped {
  organizationId: string
  accountMode: 'prepaid' | 'tracked'
  /** True only in the start that created the organization: credits are granted then and never again. */
  isNew: boolean
  /** Secrets made by this very call, to be shown once; null when none was made. */
  key: string | null
  managementKey: string | null
}

/** What bootstrap works on. */
export interface BootstrapDependencies {
  organizations: OrganizationRepository
  keys: KeyRepository
  clock: Clock
}

/** One fixed id, so that of several processes that start at once exactly one creates it. */
const firstOrganizationId = 'org_default'

/**
 * Sees to it that there is an organization with an inference and a management key. Run at every start: later runs only
 * add keys that the environment names anew. Throws `conflict` when a named key exists as another kind.
 */
export async function bootstrap(
  options: BootstrapOptions,
  dependencies: BootstrapDependencies,
): Promise<Bootstrapped> {
  if (options.key !== null && options.key === options.managementKey) {
    throw new GatewayError('conflict', 'The bootstrap keys are the same; use two different secrets.')
  }
  const existing = await dependencies.organizations.loadFirst()
  if (existing) return join(existing, options, dependencies)
  const nowMs = dependencies.clock.nowMs()
  const organization: OrganizationRecord = {
    organizationId: firstOrganizationId,
    name: 'Default',
    accountMode: options.creditsNanocredits === null ? 'tracked' : 'prepaid',
    isFilteredModelCatalogEnabled: false,
    policy: openPolicy,
    rates: organizationRates,
    createdAtMs: nowMs,
  }
  const made = [
    makeInference(options.key, organization, nowMs),
    makeManagement(options.managementKey, organization, nowMs),
  ]
  const isNew = await dependencies.organizations.insertWithKeys(
    organization,
    made.map(({ key }) => key),
  )
  if (!isNew) return join(organization, options, dependencies)
  return {
    organizationId: organization.organizationId,
    accountMode: organization.accountMode,
    isNew: true,
    key: options.key === null ? (made[0]?.secret ?? null) : null,
    managementKey: options.managementKey === null ? (made[1]?.secret ?? null) : null,
  }
}

/** The organization is there already: only keys that the environment names and nobody knows are added. */
async function join(
  { organizationId }: Pick<OrganizationRecord, 'organizationId'>,
  options: BootstrapOptions,
  dependencies: BootstrapDependencies,
): Promise<Bootstrapped> {
  const organization = await dependencies.organizations.load(organizationId)
  if (!organization)
    throw new GatewayError('conflict', 'The first organization was deleted; create another one.')
  const nowMs = dependencies.clock.nowMs()
  const missing: KeyRecord[] = []
  if (await isMissing(options.key, 'inference', dependencies.keys)) {
    missing.push(makeInference(options.key, organization, nowMs).key)
  }
  if (await isMissing(options.managementKey, 'management', dependencies.keys)) {
    missing.push(makeManagement(options.managementKey, organization, nowMs).key)
  }
  if (missing.length > 0) await dependencies.organizations.addKeys(missing)
  const { accountMode } = organization
  return { organizationId, accountMode, isNew: false, key: null, managementKey: null }
}

function makeInference(
  secret: string | null,
  { organizationId }: OrganizationRecord,
  nowMs: number,
): CreatedKey {
  return makeKey(
    { organizationId, kind: 'inference', name: 'First key', ...(secret === null ? {} : { secret }) },
    nowMs,
  )
}

function makeManagement(
  secret: string | null,
  { organizationId }: OrganizationRecord,
  nowMs: number,
): CreatedKey {
  const name = 'First management key'
  return makeKey({ organizationId, kind: 'management', name, ...(secret === null ? {} : { secret }) }, nowMs)
}

async function isMissing(
  secret: string | null,
  kind: KeyRecord['kind'],
  keys: KeyRepository,
): Promise<boolean> {
  if (secret === null) return false
  const loaded = await keys.loadByHash(hashSecret(secret))
  if (!loaded) return true
  if (loaded.key.kind === kind) return false
  throw new GatewayError(
    'conflict',
    `The bootstrap ${kind} key exists as ${loaded.key.kind} key; use two different secrets.`,
  )
}
