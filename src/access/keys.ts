import type { Policy, Rates } from '../canonical/principal.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { KeyChanges, KeyRecord } from './key-record.ts'
import type { ImportedHashes, KeyPage, KeyRepository } from './key-repository.ts'
import { openPolicy } from './policy.ts'
import { unlimitedRates } from './rate-rules.ts'
import { checkImportedSecret, hashSecret, maskSecret, newSecret } from './secret.ts'

/** The settings of a new key. */
export interface NewKey {
  organizationId: string
  kind: KeyRecord['kind']
  name: string
  /** An existing secret; when absent, one is generated. */
  secret?: string
  limitNanocredits?: bigint | null
  limitReset?: KeyRecord['limitReset']
  policy?: Policy
  rates?: Rates
  expiresAtMs?: number | null
}

/** A key that another gateway generated: only the hash of its secret is known. */
export interface AdoptedKey extends Required<Omit<NewKey, 'secret'>> {
  /** 64 hex digits, SHA-256 of the secret. */
  keyHash: string
  /** The secret with its middle hidden. */
  label: string
  disabled: boolean
}

/** A key just created, with its secret, which is shown this once. */
export interface CreatedKey {
  key: KeyRecord
  secret: string
}

/** The keys of organizations. A change takes effect in this process at once and in others within two seconds. */
export interface Keys {
  /** Throws `conflict` when the secret is already a key. */
  create(options: NewKey): Promise<CreatedKey>
  /**
   * Adds keys, all or none. A key whose hash is stored is left as it is, and one that was adopted before, and has another
   * secret now or was deleted, is not added again. Returns the hashes of the added ones.
   */
  adopt(keys: readonly AdoptedKey[]): Promise<ReadonlySet<string>>
  /** Those of these hashes that `adopt` would not add. */
  findAdopted(keyHashes: readonly string[]): Promise<ImportedHashes>
  list(organizationId: string, page: KeyPage): Promise<KeyRecord[]>
  /** Throws `not_found`, also for a key of another organization. */
  load(organizationId: string, keyHash: string): Promise<KeyRecord>
  /** As `load`, and `not_found` also for a former secret and for a hidden key. */
  loadCurrent(organizationId: string, keyHash: string): Promise<KeyRecord>
  update(organizationId: string, keyHash: string, changes: KeyChanges): Promise<KeyRecord>
  /**
   * Replaces the key's secret and keeps its limits, its rules and its usage. The present secret goes on working for
   * `overlapMs`; 0 ends it now.
   */
  rotate(organizationId: string, keyHash: string, overlapMs: number): Promise<CreatedKey>
  delete(organizationId: string, keyHash: string): Promise<void>
}

/** What keys need; `onChange` gets the hash of every key that changed. */
export interface KeysOptions {
  repository: KeyRepository
  clock: Clock
  onChange: (keyHash: string) => void
}

/** Creates, lists and changes keys. A secret is returned once and never stored. */
export function createKeys({ repository, clock, onChange }: KeysOptions): Keys {
  return {
    async create(options) {
      const { key, secret } = makeKey(options, clock.nowMs())
      if (await repository.loadByHash(key.keyHash))
        throw new GatewayError('conflict', 'This key exists already.')
      await repository.insert(key)
      onChange(key.keyHash)
      return { key, secret }
    },
    async adopt(keys) {
      const nowMs = clock.nowMs()
      const added = await repository.insertAbsent(
        keys.map((key) => ({
          ...key,
          keyId: newId('key', nowMs),
          organizationId: key.organizationId as KeyRecord['organizationId'],
          limitSinceMs: nowMs,
          createdAtMs: nowMs,
          updatedAtMs: null,
        })),
      )
      for (const keyHash of added) onChange(keyHash)
      return added
    },
    findAdopted: (keyHashes) => repository.findImported(keyHashes),
    list: (organizationId, page) => repository.list(organizationId, page),
    async load(organizationId, keyHash) {
      const loaded = await repository.loadByHash(keyHash)
      return found(loaded?.key.organizationId === organizationId ? loaded.key : null)
    },
    async loadCurrent(organizationId, keyHash) {
      const loaded = await repository.loadByHash(keyHash)
      const current = loaded && (await repository.loadById(loaded.key.keyId))
      const isOwn = current?.key.organizationId === organizationId && current.key.keyHash === keyHash
      return found(isOwn && current.key.kind !== 'playground' ? current.key : null)
    },
    async update(organizationId, keyHash, changes) {
      const key = found(await repository.update(organizationId, keyHash, changes))
      onChange(keyHash)
      return key
    },
    async rotate(organizationId, keyHash, overlapMs) {
      const secret = newSecret()
      const rotated = await repository.rotate(organizationId, keyHash, {
        keyHash: hashSecret(secret),
        label: maskSecret(secret),
        formerUntilMs: overlapMs > 0 ? clock.nowMs() + overlapMs : null,
      })
      for (const hash of [keyHash, ...(rotated?.endedHashes ?? [])]) onChange(hash)
      return { key: found(rotated?.key ?? null), secret }
    },
    async delete(organizationId, keyHash) {
      if (!(await repository.delete(organizationId, keyHash))) throw noSuchKey()
      onChange(keyHash)
    },
  }
}

/** A key that is not stored yet. Throws `invalid_request` for a secret that cannot be a key. */
export function makeKey(options: NewKey, nowMs: number): CreatedKey {
  if (options.secret !== undefined) checkImportedSecret(options.secret)
  const secret = options.secret ?? newSecret()
  const key: KeyRecord = {
    keyHash: hashSecret(secret),
    keyId: newId('key', nowMs),
    organizationId: options.organizationId,
    kind: options.kind,
    name: options.name,
    label: maskSecret(secret),
    disabled: false,
    limitNanocredits: options.limitNanocredits ?? null,
    limitReset: options.limitReset ?? null,
    limitSinceMs: nowMs,
    policy: options.policy ?? openPolicy,
    rates: options.rates ?? unlimitedRates,
    expiresAtMs: options.expiresAtMs ?? null,
    createdAtMs: nowMs,
    updatedAtMs: null,
  }
  return { key, secret }
}

function found(key: KeyRecord | null): KeyRecord {
  if (key) return key
  throw noSuchKey()
}

function noSuchKey(): GatewayError {
  return new GatewayError('not_found', 'There is no key with this hash.', { param: 'hash' })
}
