import { timingSafeEqual } from 'node:crypto'
import type { Principal } from '../canonical/principal.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { importedKeyLengthMax } from '../core/limits.ts'
import { createFailedAuthentications } from './failed-authentications.ts'
import type { KeyRepository, LoadedKey } from './key-repository.ts'
import { mergePolicies } from './policy.ts'
import { createPrincipalCache } from './principal-cache.ts'
import type { CachedPrincipal } from './principal-cache.ts'
import { hashSecret } from './secret.ts'

/** Finds out who asks. */
export interface Authenticator {
  /**
   * The owner of the bearer key in the headers, at once when it was seen within two seconds. Throws or rejects with
   * `authentication` (no key, or none that may be used), `rate_limit_exceeded` (too many failures from this address)
   * and `storage_unavailable` (never 401 because storage is out of order). The address is asked for only when it is needed.
   */
  authenticate(
    headers: Headers,
    addressOf: () => string,
    options?: HeaderOptions,
  ): Principal | Promise<Principal>
  /** The principal of a key known by its id, for work that goes on without its caller; null when it may not be used. */
  principalOf(keyId: string): Promise<Principal | null>
  /** A key or an organization changed: what is cached of it is read again. */
  forgetKey(keyHash: string): void
  forgetOrganization(organizationId: string): void
}

/** Where else a key may be found. */
export interface HeaderOptions {
  /** `x-api-key` counts too when there is no `authorization`, as on messages. */
  acceptApiKeyHeader?: boolean
}

/** What the authenticator needs. */
export interface AuthenticatorOptions {
  repository: Pick<KeyRepository, 'loadByHash' | 'loadById'>
  clock: Clock
}

/** Nothing is cached yet. */
export function createAuthenticator({ repository, clock }: AuthenticatorOptions): Authenticator {
  const failures = createFailedAuthentications(clock)
  const cache = createPrincipalCache({ clock, load: (keyHash) => loadPrincipal(keyHash, repository) })

  function admit(entry: CachedPrincipal | null, addressOf: () => string): Principal {
    if (entry && (entry.expiresAtMs === null || entry.expiresAtMs > clock.nowMs())) return entry.principal
    failures.record(addressOf())
    throw refusedKey()
  }

  return {
    authenticate(headers, addressOf, options) {
      const secret = secretOf(headers, options)
      if (secret === null) {
        failures.record(addressOf())
        throw refusedKey()
      }
      const keyHash = hashSecret(secret)
      const known = cache.peek(keyHash)
      if (known) return admit(known, addressOf)
      // A key that was good before is read again even for an address that is being refused.
      const refusal = cache.has(keyHash) ? null : failures.refusalFor(addressOf())
      if (refusal) throw refusal
      return cache.load(keyHash).then((entry) => admit(entry, addressOf))
    },
    async principalOf(keyId) {
      const entry = toCachedPrincipal(await repository.loadById(keyId))
      if (!entry || (entry.expiresAtMs !== null && entry.expiresAtMs <= clock.nowMs())) return null
      return entry.principal
    },
    forgetKey: (keyHash) => cache.forgetKey(keyHash),
    forgetOrganization: (organizationId) => cache.forgetOrganization(organizationId),
  }
}

const scheme = 'bearer '

/** The secret in the headers, null for one that no key can be. Throws when there is none at all. */
function secretOf(headers: Headers, options: HeaderOptions | undefined): string | null {
  const header = headers.get('authorization')
  if (header === null) {
    const apiKey = options?.acceptApiKeyHeader ? headers.get('x-api-key') : null
    if (apiKey === null) throw new GatewayError('authentication', 'Missing Authentication header')
    return bounded(apiKey)
  }
  if (header.length <= scheme.length || header.slice(0, scheme.length).toLowerCase() !== scheme) return null
  return bounded(header.slice(scheme.length).trim())
}

function bounded(secret: string): string | null {
  return secret !== '' && secret.length <= importedKeyLengthMax ? secret : null
}

/** One text for all that is wrong with a key: which it is concerns only its owner. */
function refusedKey(): GatewayError {
  return new GatewayError(
    'authentication',
    'The API key is unknown, disabled or expired. Send "Authorization: Bearer <key>" with a key of this gateway.',
  )
}

async function loadPrincipal(
  keyHash: string,
  repository: Pick<KeyRepository, 'loadByHash'>,
): Promise<CachedPrincipal | null> {
  const loaded = await repository.loadByHash(keyHash)
  if (!loaded || !isSameHash(loaded.key.keyHash, keyHash)) return null
  return toCachedPrincipal(loaded)
}

/** In constant time. The lookup itself is by hash: what its timing could tell is not the secret. */
function isSameHash(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right))
}

/** Null for keys that are disabled, and for inference keys of an organization that is gone; its management keys learn of it by 404. */
function toCachedPrincipal(loaded: LoadedKey | null): CachedPrincipal | null {
  if (!loaded) return null
  const { key, organization } = loaded
  if (key.disabled || (organization.isDeleted && key.kind === 'inference')) return null
  const principal: Principal = {
    organizationId: key.organizationId,
    workspaceId: loaded.workspaceId,
    memberId: loaded.memberId,
    keyId: key.keyId,
    keyHash: key.keyHash,
    keyKind: key.kind,
    accountMode: organization.accountMode,
    constraints: mergePolicies(organization.policy, key.policy),
    rates: { organization: organization.rates, key: key.rates },
    keyLimitNanocredits: key.limitNanocredits,
    keyLimitReset: key.limitReset,
    keyLimitSinceMs: key.limitSinceMs,
    isFilteredModelCatalogEnabled: organization.isFilteredModelCatalogEnabled,
  }
  return { principal: Object.freeze(principal), expiresAtMs: key.expiresAtMs }
}
