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

/** Finds the principal of a request. */
export interface Authenticator {
  /**
   * The owner of the bearer key in the headers; synchronous when the key was read within the last two seconds. Throws or
   * rejects with `authentication` (no key, or none that may be used), `rate_limit_exceeded` (too many unknown keys from
   * this address) or `storage_unavailable` (a failure of storage is never a 401). The address counts for unknown keys.
   */
  authenticate(
    headers: Headers,
    asker: { readonly clientAddress: string },
    options?: HeaderOptions,
  ): Principal | Promise<Principal>
  /** The principal of a key by its id, for work that goes on after its request ended; null when the key may not be used. */
  principalOf(keyId: string): Promise<Principal | null>
  /** Call it when a key or an organization has changed: the cached principals are read again. */
  forgetKey(keyHash: string): void
  forgetOrganization(organizationId: string): void
}

/** Where a key may be besides `authorization`. */
export interface HeaderOptions {
  /** Read `x-api-key` when there is no `authorization`, as for messages. */
  readonly acceptsApiKeyHeader?: boolean
}

/** What the authenticator needs. */
export interface AuthenticatorOptions extends Pick<UnknownKeysOptions, 'wakeAfter'> {
  repository: Pick<KeyRepository, 'loadByHash' | 'loadById'>
  clock: Clock
}

/** An authenticator with an empty cache. */
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

  /** One lookup for all requests with this key from one address at the same time. */
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
    authenticate(headers, { clientAddress }, headerOptions) {
      const secret = secretOf(headers, headerOptions)
      if (secret === null) throw new KeyRefused(null)
      const keyHash = hashSecret(secret)
      const known = cache.peek(keyHash)
      if (known) return admit(known)
      // A cached 401 is given only if a caller was told before that this key is unknown: then it gives nothing away.
      const unknown = cache.unknown(keyHash)
      if (unknown?.isNow && unknown.isTold) throw new KeyRefused(null)
      // A key that existed at the last reading is not a guess, so it takes no turn.
      return cache.has(keyHash) ? cache.load(keyHash).then(admit) : lookUpOnce(keyHash, clientAddress)
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
const usualScheme = 'Bearer '

/**
 * The provider login of a caller that sends the gateway's key in a header of its own and its provider's login in
 * `authorization`; null for other callers.
 */
export function callerLoginOf(headers: Headers): string | null {
  const key = headers.get('x-headrace-key')
  const header = key === null ? null : headers.get('authorization')
  if (header?.slice(0, scheme.length).toLowerCase() !== scheme) return null
  const login = header.slice(scheme.length).trim()
  // A client may send a key of the gateway in both headers, and no provider may see that.
  return login === '' || login === key || login.startsWith(keyPrefix) ? null : login
}

/** The secret in the headers; null when it cannot be a key. Throws when there is none. */
function secretOf(headers: Headers, options: HeaderOptions | undefined): string | null {
  const own = headers.get('x-headrace-key')
  if (own !== null) return bounded(own)
  const header = headers.get('authorization')
  if (header === null) {
    const apiKey = options?.acceptsApiKeyHeader ? headers.get('x-api-key') : null
    if (apiKey === null) throw new KeyMissing()
    return bounded(apiKey)
  }
  if (header.length <= scheme.length || !hasScheme(header)) return null
  return bounded(header.slice(scheme.length).trim())
}

/** Nearly all clients write it in the usual way, which needs no copy in lower case. */
function hasScheme(header: string): boolean {
  return header.startsWith(usualScheme) || header.slice(0, scheme.length).toLowerCase() === scheme
}

function bounded(secret: string): string | null {
  return secret !== '' && secret.length <= importedKeyLengthMax ? secret : null
}

/** No header of the request has a key. */
export class KeyMissing extends GatewayError {
  constructor() {
    super('authentication', 'Missing Authentication header')
  }
}

/** One message for every refusal of a key: the exact reason concerns only its owner. */
export class KeyRefused extends GatewayError {
  /** The key's owner, for the log; null for an unknown key. */
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

/** Compares in constant time. The lookup itself is by hash, so its timing does not reveal the secret. */
function isSameHash(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right))
}

/** When an organization is gone, its inference keys are refused; its management keys get a 404 later. */
function toCachedPrincipal(loaded: LoadedKey | null): CachedPrincipal | null {
  if (!loaded) return null
  const { key, organization } = loaded
  const isRefused = key.disabled || (organization.isDeleted && key.kind !== 'management')
  const principal: Principal = {
    organizationId: key.organizationId,
    workspaceId: loaded.workspaceId,
    memberId: loaded.memberId,
    keyId: key.keyId,
    keyHash: key.keyHash,
    keyKind: key.kind === 'management' ? 'management' : 'inference',
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
