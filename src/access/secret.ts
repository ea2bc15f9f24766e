import { hash } from 'node:crypto'
import { randomText } from '../core/ids.ts'
import { importedKeyLengthMax, importedKeyLengthMin } from '../core/limits/access.ts'
import { GatewayError } from '../core/errors.ts'

/** The beginning of keys that the gateway generated. */
export const keyPrefix = 'sk-hr-v1-'
/** 64 of 36 characters: 330 bits. */
const randomLength = 64

/** A new secret; shown to its owner once and never stored. */
export function newSecret(): string {
  return `${keyPrefix}${randomText(randomLength)}`
}

/** The stored form of a secret, by which it is looked up: 64 hex digits. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** A secret with its middle hidden; a short one is hidden completely. */
export function maskSecret(secret: string): string {
  if (secret.length < 24) return '…'
  const shown = secret.startsWith(keyPrefix) ? keyPrefix.length + 3 : 3
  return `${secret.slice(0, shown)}...${secret.slice(-3)}`
}

/** Checks an existing secret, for example of a different gateway. Throws `invalid_request`. */
export function checkImportedSecret(secret: string): void {
  const isPrintable = /^[\x21-\x7e]+$/.test(secret)
  if (isPrintable && secret.length >= importedKeyLengthMin && secret.length <= importedKeyLengthMax) return
  throw new GatewayError(
    'invalid_request',
    `A key has ${importedKeyLengthMin} to ${importedKeyLengthMax} printable characters and no spaces.`,
    { param: 'key' },
  )
}
