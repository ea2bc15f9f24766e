import type { Endpoint } from '../canonical/endpoint.ts'
import type { Constraints } from '../canonical/principal.ts'

/** The rule that keeps an endpoint from being used, named as the policy's member. */
export type Prohibition =
  | 'allowed_models'
  | 'ignored_models'
  | 'allowed_providers'
  | 'ignored_providers'
  | 'enforce_zdr'
  | 'deny_data_collection'

/**
 * The first rule that forbids the endpoint, or null when it may be used. A rule on models may name the endpoint's
 * model, or the operator's name by which the caller asked for it.
 */
export function prohibitionOf(
  endpoint: Endpoint,
  constraints: Constraints,
  name: string = endpoint.model,
): Prohibition | null {
  const { dataPolicy, model } = endpoint
  const { allowedModels, allowedModelsOfKey, ignoredModels } = constraints
  if (allowedModels && !hasAnyOf(allowedModels, model, name)) return 'allowed_models'
  if (allowedModelsOfKey && !hasAnyOf(allowedModelsOfKey, model, name)) return 'allowed_models'
  if (ignoredModels.length > 0 && hasAnyOf(ignoredModels, model, name)) return 'ignored_models'
  const { allowedProviders, allowedProvidersOfKey } = constraints
  if (allowedProviders && !isAnyProvider(endpoint, allowedProviders)) return 'allowed_providers'
  if (allowedProvidersOfKey && !isAnyProvider(endpoint, allowedProvidersOfKey)) return 'allowed_providers'
  if (constraints.ignoredProviders.length > 0 && isAnyProvider(endpoint, constraints.ignoredProviders)) {
    return 'ignored_providers'
  }
  if (constraints.requireZdr && !dataPolicy.zdr) return 'enforce_zdr'
  if (constraints.denyDataCollection && collectsData(endpoint)) return 'deny_data_collection'
  return null
}

function hasAnyOf(models: readonly string[], model: string, name: string): boolean {
  return models.includes(model) || models.includes(name)
}

/** Whether the endpoint's provider stores or trains on what it is sent. */
export function collectsData({ dataPolicy }: Endpoint): boolean {
  return dataPolicy.stores || dataPolicy.trains
}

/**
 * Whether a name means the endpoint's provider. A base slug means all deployments and tags of the provider, and a
 * preset every provider that uses it (`custom`: every server of the operator's own). A tag (`openai/eu`,
 * `deepinfra/fp8`, `custom/north`) or a deployment's own name means that one alone. The display name counts too, in any
 * case, because older clients send it.
 */
export function isProvider(endpoint: Endpoint, name: string): boolean {
  const { deployment } = endpoint
  if (name === deployment.provider || name === deployment.id) return true
  const lower = name.toLowerCase()
  if (lower === deployment.id || lower === deployment.providerName.toLowerCase()) return true
  return isSlugOf(endpoint, deployment.provider, lower) || isSlugOf(endpoint, deployment.preset, lower)
}

function isSlugOf({ deployment, quantization }: Endpoint, slug: string, name: string): boolean {
  if (name === slug || name === tagUnder(slug, deployment.id)) return true
  return quantization !== null && name === `${slug}/${quantization}`
}

/** As `isProvider`, for any of several names. */
export function isAnyProvider(endpoint: Endpoint, names: readonly string[]): boolean {
  for (const name of names) if (isProvider(endpoint, name)) return true
  return false
}

/**
 * The tag that callers use for this deployment: the provider's slug, with the part that distinguishes it from other
 * deployments of the same provider.
 */
export function tagOf({ deployment }: Endpoint): string {
  return tagUnder(deployment.provider, deployment.id)
}

function tagUnder(slug: string, id: string): string {
  if (id === slug) return slug
  return `${slug}/${id.startsWith(`${slug}-`) ? id.slice(slug.length + 1) : id}`
}
