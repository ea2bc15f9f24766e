import type { KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'

/** Who states what to whom, and for how long. */
export interface StatementContent {
  issuer: string
  subject?: string
  audience?: string
  /** The name of the key among those of the issuer. */
  keyId?: string
  claims?: Record<string, string>
  nowMs: number
  lifeSeconds: number
}

/** A statement that a private key signs (a JSON Web Token with RS256). */
export function signStatement(key: KeyObject, statement: StatementContent): Promise<string> {
  const { issuer, subject, audience, keyId, claims = {}, nowMs, lifeSeconds } = statement
  const issuedAt = Math.floor(nowMs / 1000)
  const token = new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) })
    .setIssuer(issuer)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifeSeconds)
  if (subject !== undefined) token.setSubject(subject)
  if (audience !== undefined) token.setAudience(audience)
  return token.sign(key)
}
