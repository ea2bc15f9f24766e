import type { Role } from '../../canonical/principal.ts'
import type { KeyId, MemberId, OrganizationId, SessionId } from '../../core/ids.ts'

/** A person of an organization as it is stored, without the password. Times are epoch milliseconds. */
export interface MemberRecord {
  memberId: MemberId
  organizationId: OrganizationId
  /** Lower case; null while nobody said it. */
  email: string | null
  firstName: string | null
  lastName: string | null
  role: Role
  hasPassword: boolean
  /** The hidden key that pays for the person's own calls. */
  keyId: KeyId
  /** Set for the person that stands for everybody who signs in with this management key. */
  managementKeyId: KeyId | null
  createdAtMs: number
  /** When the person first signed in; null for one who was only invited. */
  joinedAtMs: number | null
}

/** How a session was opened. */
export type OpenedBy = 'link' | 'password' | 'key'

/** A session as it is stored, without its secret. */
export interface SessionRecord {
  sessionId: SessionId
  memberId: MemberId
  openedBy: OpenedBy
  /** The management key that opened it; the session ends with that key. */
  managementKeyId: KeyId | null
  userAgent: string | null
  address: string
  createdAtMs: number
  lastUsedAtMs: number
  /** The end at the latest. */
  expiresAtMs: number
}

/** Changes that a person makes to the own entry. Absent members stay as they are. */
export interface MemberChanges {
  email?: string
  firstName?: string | null
  lastName?: string | null
}
