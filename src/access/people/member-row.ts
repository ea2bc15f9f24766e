import type { Role } from '../../canonical/principal.ts'
import type { MemberRecord } from './member-record.ts'

/** The columns of `members` that are read together. */
export const memberColumns = [
  'member_id',
  'organization_id',
  'email',
  'first_name',
  'last_name',
  'role',
  'password_hash',
  'key_id',
  'management_key_id',
  'created_at_ms',
  'joined_at_ms',
] as const

/** A row with these columns. */
export interface MemberRow {
  member_id: string
  organization_id: string
  email: string | null
  first_name: string | null
  last_name: string | null
  role: Role
  password_hash: string | null
  key_id: string
  management_key_id: string | null
  created_at_ms: number
  joined_at_ms: number | null
}

/** The row without the password's hash. */
export function toMemberRecord(row: MemberRow): MemberRecord {
  return {
    memberId: row.member_id,
    organizationId: row.organization_id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    role: row.role,
    hasPassword: row.password_hash !== null,
    keyId: row.key_id,
    managementKeyId: row.management_key_id,
    createdAtMs: row.created_at_ms,
    joinedAtMs: row.joined_at_ms,
  }
}
