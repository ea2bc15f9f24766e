import { lookup } from 'node:dns/promises'
import type { DiscoveryState } from '../../catalog/discovery.ts'
import { parseListing } from '../../catalog/listing.ts'
import { systemClock } from '../../core/clock.ts'
import { discoveryWaitMs } from '../../core/limits/catalog.ts'
import {
  listingPathOf,
  targetOf,
  toDeploymentSource,
  type ProviderSettings,
} from '../../providers/deployments.ts'
import { findPreset } from '../../providers/registry.ts'
import { fetchListing } from '../../transport/fetch-listing.ts'
import { createTransport } from '../../transport/http-client.ts'
import { createIdentities } from '../../transport/identities/identities.ts'
import type { ProviderCheck } from '../context.ts'

/** The place where the operator configured a provider, so that a finding can name it. */
export interface ProviderOrigin {
  env: Readonly<Record<string, string | undefined>>
  /** The configuration file, null when there is none. */
  file: string | null
}

/** One line for the operator about the last reading of a provider's listing. */
export function describeProvider(
  { deploymentId: provider, failure, modelCount }: DiscoveryState,
  settings: ProviderSettings | undefined,
  origin: ProviderOrigin,
): ProviderCheck {
  if (failure === null) return { provider, ok: true, message: `${modelCount ?? 0} models` }
  return { provider, ok: false, message: problemOf(failure, settings, origin) }
}

/** One line about a deployment's login that is no key, by why there is none. */
export function describeLogin(provider: string, reason: string | null): ProviderCheck {
  if (reason === null) return { provider, ok: true, message: 'has a login; it is not asked for its models' }
  return { provider, ok: false, message: `has no login: ${reason}` }
}

/** Asks every provider for its models, once and all at the same time; one line each, never a key. */
export function checkProviders(
  providers: readonly ProviderSettings[],
  origin: ProviderOrigin,
): Promise<readonly ProviderCheck[]> {
  const transport = createTransport({ clock: systemClock, environment: origin.env })
  const identities = createIdentities({
    transport,
    clock: systemClock,
    environment: origin.env,
    report: () => undefined,
  })
  return Promise.all(
    providers.map(async (settings): Promise<ProviderCheck> => {
      const source = toDeploymentSource(settings, identities)
      const { id: deploymentId } = source.deployment
      const path = listingPathOf(settings)
      const identity = source.credential.auth.type === 'identity' ? source.credential.auth : null
      if (identity !== null) {
        await Promise.resolve(identity.login()).catch(() => undefined)
        const missing = await missingHost(source.deployment.baseUrl)
        if (missing !== null)
          return {
            provider: deploymentId,
            ok: false,
            message: `there is no host ${missing}; check region and base_url`,
          }
        return describeLogin(deploymentId, identities.reasonOf(deploymentId) ?? null)
      }
      if (path === null) return { provider: deploymentId, ok: true, message: 'is not asked for its models' }
      const state: DiscoveryState = { deploymentId, modelCount: null, failure: null }
      try {
        const signal = AbortSignal.timeout(discoveryWaitMs)
        const models = parseListing(await fetchListing({ target: targetOf(source), path, transport, signal }))
        state.modelCount = models.length
      } catch (error) {
        state.failure = error instanceof Error ? error.message : 'failed'
      }
      return describeProvider(state, settings, origin)
    }),
  ).finally(() => identities.stop())
}

/** The host of an address that no resolver knows; null for one that is known, or while none can be asked. */
async function missingHost(baseUrl: string): Promise<string | null> {
  const { hostname } = new URL(baseUrl)
  try {
    await lookup(hostname.replaceAll(/[[\]]/g, ''))
    return null
  } catch (thrown) {
    const { code } = thrown as { code?: unknown }
    return code === 'ENOTFOUND' || code === 'DNS_ENOTFOUND' ? hostname : null
  }
}

function problemOf(failure: string, settings: ProviderSettings | undefined, origin: ProviderOrigin): string {
  // The runtime cannot send such a request, which would look like an unreachable network.
  if (settings?.api_key !== undefined && /[^\t\u0020-\u007e\u0080-\u00ff]/.test(settings.api_key)) {
    const where = placeOf('api_key', settings, origin)
    return `the key has characters that no key has, such as a line break; check ${where}`
  }
  const status = /^status (\d+)$/.exec(failure)?.[1] ?? null
  if (status === '401' || status === '403') {
    return `the key was refused (status ${status}); check ${placeOf('api_key', settings, origin)}`
  }
  const address = placeOf('base_url', settings, origin)
  if (status === '429' || status?.startsWith('5')) {
    return `does not list its models at the moment (status ${status}); known models stay offered`
  }
  if (status === '400') {
    const key = placeOf('api_key', settings, origin)
    return `refuses to list its models (status 400), as some do for a wrong key; check ${key}, then ${address}`
  }
  if (status !== null) {
    return `there is no list of models (status ${status}); check ${address}, which ends with the version, such as /v1`
  }
  if (/was ended before/.test(failure))
    return `did not list its models in time; check the network and ${address}. Known models stay offered`
  if (/could not be reached|in time|broke off/.test(failure)) {
    // The operator has set no URL, so the preset's is used.
    const isOwn = settings !== undefined && settings.base_url === undefined
    return `cannot be reached; check the network${isOwn ? '' : ` and ${address}`}. Known models stay offered`
  }
  return `answers, but not with a list of models; check ${address}`
}

/** The variable, or the member of the file, that holds a provider's key or URL. */
function placeOf(
  member: 'api_key' | 'base_url',
  settings: ProviderSettings | undefined,
  { env, file }: ProviderOrigin,
): string {
  const preset = settings ? findPreset(settings.preset) : null
  const variable = member === 'api_key' ? preset?.keyVariable : preset?.baseUrlVariable
  const value = settings?.[member]
  const isFromVariable = variable && (value === undefined ? file === null : env[variable] === value)
  if (isFromVariable) return variable
  const name = settings?.id ?? settings?.preset
  return `${member} of ${name ? `"${name}"` : 'the provider'} in ${file ?? 'the configuration file'}`
}
