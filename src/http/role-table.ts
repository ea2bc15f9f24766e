import { type Role, roles } from '../canonical/principal.ts'
import { GatewayError } from '../core/errors.ts'

/**
 * What people may do when they are signed in: for each route below the version segment the least role that may call it. A
 * route without a line is refused to every session. Viewers read figures and never contents; members also make calls and
 * batches; admins also hand out keys, change settings and decide about people.
 */
export const roleTable: Readonly<Record<string, Role>> = {
  'GET /models': 'viewer',
  'GET /models/user': 'viewer',
  'GET /models/count': 'viewer',
  'GET /models/:id{.+}': 'viewer',
  'GET /models/:id{.+}/endpoints': 'viewer',
  'GET /model/:id{.+}': 'viewer',
  'GET /embeddings/models': 'viewer',
  'GET /endpoints/zdr': 'viewer',
  'GET /providers': 'viewer',
  'GET /credits': 'viewer',
  'GET /key': 'viewer',
  'GET /generation': 'viewer',
  'GET /activity': 'viewer',
  'GET /analytics/meta': 'viewer',
  'POST /analytics/query': 'viewer',
  'GET /generation/content': 'member',
  'POST /generation/feedback': 'member',
  'GET /headrace/requests': 'viewer',
  'GET /headrace/requests/export': 'member',
  'GET /headrace/requests/anonymous': 'admin',
  'GET /headrace/requests/:id': 'viewer',
  'GET /headrace/spend': 'viewer',
  'GET /headrace/spend/ledger': 'viewer',
  'GET /headrace/deployments': 'viewer',
  'GET /headrace/system': 'viewer',
  'GET /headrace/doctor': 'admin',
  'GET /headrace/ledger/balance': 'viewer',
  'GET /headrace/ledger/postings': 'viewer',
  'GET /headrace/ledger/postings/export': 'member',

  'POST /chat/completions': 'member',
  'POST /completions': 'member',
  'POST /responses': 'member',
  'POST /responses/compact': 'member',
  'POST /messages': 'member',
  'POST /messages/count_tokens': 'member',
  'POST /embeddings': 'member',
  'POST /rerank': 'member',
  'POST /audio/speech': 'member',
  'POST /audio/transcriptions': 'member',

  'GET /batches': 'viewer',
  'GET /batches/:id': 'viewer',
  'GET /batches/:id/events': 'viewer',
  'GET /batches/:id/deliveries': 'viewer',
  'GET /batches/:id/results': 'member',
  'POST /batches': 'member',
  'POST /batches/:id/cancel': 'member',
  'POST /batches/:id/retry': 'member',
  'POST /batches/:id/redeliver': 'member',
  'DELETE /batches/:id': 'member',
  'GET /messages/batches': 'viewer',
  'GET /messages/batches/:id': 'viewer',
  'GET /messages/batches/:id/results': 'member',
  'POST /messages/batches': 'member',
  'POST /messages/batches/:id/cancel': 'member',
  'DELETE /messages/batches/:id': 'member',

  'GET /files': 'viewer',
  'GET /files/:id': 'viewer',
  'GET /files/:id/content': 'member',
  'POST /files': 'member',
  'DELETE /files/:id': 'member',

  'GET /keys': 'viewer',
  'GET /keys/:hash': 'viewer',
  'POST /keys': 'admin',
  'PATCH /keys/:hash': 'admin',
  'POST /keys/:hash/rotate': 'admin',
  'DELETE /keys/:hash': 'admin',

  'GET /organization/settings': 'viewer',
  'PATCH /organization/settings': 'admin',
  'POST /organization/signing-secret': 'admin',
  'GET /organization/members': 'viewer',
  'POST /headrace/members': 'admin',
  'POST /headrace/members/:id/link': 'admin',
  'PATCH /headrace/members/:id': 'admin',
  'DELETE /headrace/members/:id': 'admin',

  'GET /headrace/session': 'viewer',
  'PATCH /headrace/session': 'viewer',
  'DELETE /headrace/session': 'viewer',
  'POST /headrace/session/password': 'viewer',
  'GET /headrace/sessions': 'viewer',
  'DELETE /headrace/sessions': 'viewer',
  'DELETE /headrace/sessions/:id': 'viewer',
}

/** Whether a role includes what another one may do. */
export function includesRole(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** The lines of the table that a role may call. */
export function allowedTo(role: Role): string[] {
  return Object.entries(roleTable).flatMap(([line, needed]) => (includesRole(role, needed) ? [line] : []))
}

/** Throws `permission_denied` unless the table lets the role call the route. */
export function requireRole({ method, path }: { method: string; path: string }, role: Role): void {
  const line = `${method} ${path}`
  const needed = Object.hasOwn(roleTable, line) ? roleTable[line] : undefined
  if (needed !== undefined && includesRole(role, needed)) return
  throw new GatewayError(
    'permission_denied',
    needed === undefined
      ? 'Sessions cannot do this; use a key.'
      : `Your role is ${role}, and this needs ${needed}. An admin of the organization can change it.`,
  )
}
