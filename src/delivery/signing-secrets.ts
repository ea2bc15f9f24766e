import { randomText } from '../core/ids.ts'
import type { Seal } from './master-key.ts'
import type { SigningSecretRepository } from './signing-secret-repository.ts'

/** The beginning of every signing secret. */
const signingSecretPrefix = 'whsec_'
/** 48 of 36 characters: 248 bits. */
const signingSecretLength = 48

/** The secrets with which events are signed, one an organization. */
export interface SigningSecrets {
  /** The secret in use; made at its first use. Throws `invalid_request` when there is no master key. */
  use(organizationId: string): Promise<string>
  /** Replaces the secret and returns the new one, which is never shown again. Later tries are signed with it. */
  rotate(organizationId: string): Promise<string>
}

export function createSigningSecrets(repository: SigningSecretRepository, seal: Seal): SigningSecrets {
  return {
    async use(organizationId) {
      const purpose = purposeOf(organizationId)
      const stored = await repository.load(organizationId)
      if (stored !== null) return seal.open(stored, purpose)
      await repository.insert(organizationId, await seal.seal(newSigningSecret(), purpose))
      // Another process may have been first: all use the one that is stored.
      return seal.open((await repository.load(organizationId)) ?? '', purpose)
    },
    async rotate(organizationId) {
      const secret = newSigningSecret()
      await repository.replace(organizationId, await seal.seal(secret, purposeOf(organizationId)))
      return secret
    },
  }
}

function purposeOf(organizationId: string): string {
  return `signing secret of ${organizationId}`
}

function newSigningSecret(): string {
  return `${signingSecretPrefix}${randomText(signingSecretLength)}`
}
