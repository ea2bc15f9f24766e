import type { OrganizationId } from '../core/ids.ts'
import { newId } from '../core/ids.ts'
import type { Statement } from '../storage/database.ts'

/**
 * Inserts an organization's default workspace, in the unit that creates the organization. A key without a workspace of
 * its own choice belongs to it.
 */
export function insertDefaultWorkspace(organizationId: OrganizationId, nowMs: number): Statement {
  return {
    sql: `insert into workspaces (workspace_id, organization_id, name, is_default, created_at_ms)
      values ($1, $2, 'Default', 1, $3)`,
    params: [newId('ws', nowMs), organizationId, nowMs],
  }
}

/** An organization's default workspace, as an SQL expression. */
export function defaultWorkspaceOf(organizationId: string): string {
  return `(select workspace_id from workspaces where organization_id = ${organizationId} and is_default = 1)`
}
