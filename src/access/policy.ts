import type { Constraints, Policy } from '../canonical/principal.ts'
import { GatewayError } from '../core/errors.ts'
import { policyListMax } from '../core/limits/access.ts'
import { modelIdLengthMax } from '../core/limits/http.ts'
import { parseObject } from './stored-json.ts'

/** A policy that forbids nothing. */
export const openPolicy: Policy = Object.freeze({
  allowedModels: null,
  ignoredModels: [],
  allowedProviders: null,
  ignoredProviders: [],
  requireZdr: false,
  denyDataCollection: false,
})

const members = [
  'allowed_models',
  'ignored_models',
  'allowed_providers',
  'ignored_providers',
  'enforce_zdr',
  'deny_data_collection',
]

/**
 * A policy as it is stored and sent. A member that is absent or null is no rule. An empty list is refused, because it
 * could mean "everything" or "nothing". Throws `invalid_request` that names the member.
 */
export function parsePolicy(value: unknown): Policy {
  const policy = parseObject(value, 'policy', members)
  return {
    allowedModels: names(policy, 'allowed_models'),
    ignoredModels: names(policy, 'ignored_models') ?? [],
    allowedProviders: names(policy, 'allowed_providers'),
    ignoredProviders: names(policy, 'ignored_providers') ?? [],
    requireZdr: flag(policy, 'enforce_zdr'),
    denyDataCollection: flag(policy, 'deny_data_collection'),
  }
}

/** The stored form; absent rules are left out. */
export function renderPolicy(policy: Policy): string {
  return JSON.stringify({
    ...(policy.allowedModels ? { allowed_models: policy.allowedModels } : {}),
    ...(policy.ignoredModels.length > 0 ? { ignored_models: policy.ignoredModels } : {}),
    ...(policy.allowedProviders ? { allowed_providers: policy.allowedProviders } : {}),
    ...(policy.ignoredProviders.length > 0 ? { ignored_providers: policy.ignoredProviders } : {}),
    ...(policy.requireZdr ? { enforce_zdr: true } : {}),
    ...(policy.denyDataCollection ? { deny_data_collection: true } : {}),
  })
}

/** The rules of an organization and its key together: a model must be in both allow-lists, and prohibitions add up. */
export function mergePolicies(organization: Policy, key: Policy): Constraints {
  const ofKey = key.allowedProviders
  const modelsOfKey = key.allowedModels
  return Object.freeze({
    allowedModels: organization.allowedModels ?? modelsOfKey,
    ...(organization.allowedModels && modelsOfKey ? { allowedModelsOfKey: modelsOfKey } : {}),
    ignoredModels: union(organization.ignoredModels, key.ignoredModels),
    allowedProviders: organization.allowedProviders ?? ofKey,
    ...(organization.allowedProviders && ofKey ? { allowedProvidersOfKey: ofKey } : {}),
    ignoredProviders: union(organization.ignoredProviders, key.ignoredProviders),
    requireZdr: organization.requireZdr || key.requireZdr,
    denyDataCollection: organization.denyDataCollection || key.denyDataCollection,
  })
}

function union(left: readonly string[], right: readonly string[]): readonly string[] {
  return [...new Set([...left, ...right])]
}

function names(policy: Record<string, unknown>, member: string): readonly string[] | null {
  const value = policy[member] ?? null
  if (value === null) return null
  if (!Array.isArray(value) || value.length === 0 || value.length > policyListMax) {
    throw refuse(member, `must be null or a list of 1 to ${policyListMax} names`)
  }
  for (const name of value) {
    if (typeof name !== 'string' || name === '' || name.length > modelIdLengthMax) {
      throw refuse(member, `holds something that is not a name of 1 to ${modelIdLengthMax} characters`)
    }
  }
  return value as string[]
}

function flag(policy: Record<string, unknown>, member: string): boolean {
  const value = policy[member] ?? false
  if (typeof value === 'boolean') return value
  throw refuse(member, 'must be true, false or null')
}

function refuse(member: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `policy.${member} ${problem}.`, { param: `policy.${member}` })
}
