import { hash } from 'node:crypto'
import { randomText } from '../core/ids.ts'
import { importedKeyLengthMax, importedKeyLengthMin } from '../core/limits/access.ts'
import { GatewayError } from '../core/errors.ts'

/** How keys begin that the gateway made. */
export const keyPrefix = 'sk-hr-v1-'
/** 64 of 36 characters: 330 bits. */
const randomLength = 64

/** A new secret; shown to its owner once and never stored. */
export function newSecret(): string {
  return `${keyPrefix}${randomText(randomLength)}`
}

/** What is stored of a secret and looked up by: 64 hex digits. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** A secret with its middle hidden; of a short one nothing is shown. */
export function maskSecret(secret: string): string {
  if (secret.length < 24) return '…'
  const shown = secret.startsWith(keyPrefix) ? keyPrefix.length + 3 : 3
  return `${secret.slice(0, shown)}...${secret.slice(-3)}`
}

/** Accepts a secret that somebody brings along, from another gateway perhaps. Throws `invalid_request`. */
export function checkImportedSecret(secret: string): void {
  const isPrintable = /^[\x21-\x7e]+$/.test(secret)
  if (isPrintable && secret.length >= importedKeyLengthMin && secret.length <= importedKeyLengthMax) return
  throw new GatewayError(
    'invalid_request',
    `A key has ${importedKeyLengthMin} to ${importedKeyLengthMax} printable characters and no spaces.`,
    { param: 'key' },
  )
}
