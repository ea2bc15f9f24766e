import { timingSafeEqual } from 'node:crypto'
import type { Principal } from '../canonical/principal.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { importedKeyLengthMax } from '../core/limits/access.ts'
import type { KeyRepository, LoadedKey } from './key-repository.ts'
import { mergePolicies } from './policy.ts'
import { createPrincipalCache } from './principal-cache.ts'
import type { CachedPrincipal } from './principal-cache.ts'
import { hashSecret, keyPrefix } from './secret.ts'
import { createUnknownKeys, type UnknownKeysOptions } from './unknown-keys.ts'

/** Finds out who asks. */
export interface Authenticator {
  /**
   * The owner of the bearer key in the headers, at once when it was seen within two seconds. Throws or rejects with
   * `authentication` (no key, or none that may be used), `rate_limit_exceeded` (too many unknown keys from this address)
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
export interface AuthenticatorOptions extends Pick<UnknownKeysOptions, 'wakeAfter'> {
  repository: Pick<KeyRepository, 'loadByHash' | 'loadById'>
  clock: Clock
}

/** Nothing is cached yet. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { repository, clock } = options
  const unknownKeys = createUnknownKeys(options)
  const cache = createPrincipalCache({ clock, load: (keyHash) => loadPrincipal(keyHash, repository) })
  const lookups = new Map<string, Promise<Principal>>()

  const isUsable = ({ isRefused, expiresAtMs }: CachedPrincipal): boolean =>
    !isRefused && (expiresAtMs === null || expiresAtMs > clock.nowMs())

  function admit(entry: CachedPrincipal | null): Principal {
    if (entry && isUsable(entry)) return entry.principal
    throw new KeyRefused(entry?.principal ?? null)
  }

  /** One lookup for all who ask from one address at the same time. */
  function lookUpOnce(keyHash: string, address: string): Promise<Principal> {
    const asked = `${address} ${keyHash}`
    const running = lookups.get(asked)
    if (running) return running
    const looking = lookUp(keyHash, address).finally(() => {
      if (lookups.get(asked) === looking) lookups.delete(asked)
    })
    lookups.set(asked, looking)
    return looking
  }

  /** Looks up a key that this process has not seen. */
  async function lookUp(keyHash: string, address: string): Promise<Principal> {
    const unknown = cache.unknown(keyHash)
    const entry = await unknownKeys.lookUp(address, {
      wasLookedUp: unknown !== null,
      wasTold: unknown?.isTold ?? false,
      load: () => cache.load(keyHash),
    })
    if (!entry) cache.markTold(keyHash)
    return admit(entry)
  }

  return {
    authenticate(headers, addressOf, headerOptions) {
      const secret = secretOf(headers, headerOptions)
      if (secret === null) throw new KeyRefused(null)
      const keyHash = hashSecret(secret)
      const known = cache.peek(keyHash)
      if (known) return admit(known)
      // Only where the caller learns nothing by it: another was told so before.
      const unknown = cache.unknown(keyHash)
      if (unknown?.isNow && unknown.isTold) throw new KeyRefused(null)
      // Nobody guesses a key that was there before.
      return cache.has(keyHash) ? cache.load(keyHash).then(admit) : lookUpOnce(keyHash, addressOf())
    },
    async principalOf(keyId) {
      const entry = toCachedPrincipal(await repository.loadById(keyId))
      return entry && isUsable(entry) ? entry.principal : null
    },
    forgetKey(keyHash) {
      lookups.clear()
      cache.forgetKey(keyHash)
    },
    forgetOrganization(organizationId) {
      lookups.clear()
      cache.forgetOrganization(organizationId)
    },
  }
}

const scheme = 'bearer '

/**
 * The login of a caller who sends the gateway's key in a header of its own, so that `authorization` can hold what its
 * provider knows it by; null for everybody else.
 */
export function callerLoginOf(headers: Headers): string | null {
  const key = headers.get('x-headrace-key')
  const header = key === null ? null : headers.get('authorization')
  if (header?.slice(0, scheme.length).toLowerCase() !== scheme) return null
  const login = header.slice(scheme.length).trim()
  // A client may send a key of the gateway in both, which is for no provider to see.
  return login === '' || login === key || login.startsWith(keyPrefix) ? null : login
}

/** The secret in the headers, null for one that no key can be. Throws when there is none at all. */
function secretOf(headers: Headers, options: HeaderOptions | undefined): string | null {
  const own = headers.get('x-headrace-key')
  if (own !== null) return bounded(own)
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
export class KeyRefused extends GatewayError {
  /** Whose key it is, for the log; null when nobody knows it. */
  readonly owner: Pick<Principal, 'organizationId' | 'keyId'> | null

  constructor(owner: Principal | null) {
    super(
      'authentication',
      'The API key is unknown, disabled or expired. Send "Authorization: Bearer <key>" with a key of this gateway.',
    )
    this.owner = owner && { organizationId: owner.organizationId, keyId: owner.keyId }
  }
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

/** Of an organization that is gone the inference keys are refused; its management keys learn of it by 404. */
function toCachedPrincipal(loaded: LoadedKey | null): CachedPrincipal | null {
  if (!loaded) return null
  const { key, organization } = loaded
  const isRefused = key.disabled || (organization.isDeleted && key.kind === 'inference')
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
  return { principal: Object.freeze(principal), expiresAtMs: key.expiresAtMs, isRefused }
}
