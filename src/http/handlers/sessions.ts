import type { LoadedSession } from '../../access/people/session-repository.ts'
import type { OpenSession, OpenedSession, SignInPlace } from '../../access/people/sessions.ts'
import { assert } from '../../core/assert.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { sessionIdleMs } from '../../core/limits/access.ts'
import { toCredits } from '../../core/money.ts'
import { parseField } from '../../formats/field-error.ts'
import { parseJsonBody } from '../../json/json-body.ts'
import { cookiePlaceOf, requireConsoleCall } from '../console-call.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { withPageNumbers } from '../page-numbers.ts'
import { type HttpExchange, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'
import { readBody, requireJson } from '../request-body.ts'
import { allowedTo, includesRole } from '../role-table.ts'
import { sessionCookie } from '../session-cookie.ts'
import {
  endSessionsQuerySchema,
  passwordSchema,
  sessionListQuerySchema,
  signInSchema,
  updatePersonSchema,
} from '../schemas/people.ts'

/** The bound of a body about people: it has names, a password or a token. */
export const personBodyBytesMax = 65_536

const own = { group: 'settings', access: 'session', path: '/headrace/session' } as const

/** Signing in and out, and the sessions that are open. */
export function sessionRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return [signInRoute(dependencies), ...ownSessionRoutes(dependencies), ...sessionListRoutes(dependencies)]
}

function signInRoute(dependencies: HttpDependencies): HttpRoute {
  return {
    ...own,
    access: 'public',
    method: 'POST',
    name: 'sign_in',
    async handle(exchange) {
      const { request, asker } = exchange
      requireConsoleCall(request, dependencies)
      const given = await readPersonBody(exchange, signInSchema)
      const place = { address: asker.clientAddress, userAgent: request.headers.get('user-agent') }
      const { secret } = await signIn(given, place, dependencies)
      const session = await dependencies.sessions.authenticate(secret, () => asker.clientAddress)
      const response = jsonResponse({ data: await describe(session, dependencies) }, 201)
      response.headers.set('set-cookie', sessionCookie(secret, cookiePlaceOf(request, dependencies)))
      response.headers.set('cache-control', 'no-store')
      return response
    },
  }
}

function signIn(
  given: ReturnType<typeof signInSchema.parse>,
  place: SignInPlace,
  dependencies: HttpDependencies,
): Promise<OpenedSession> {
  const { link, email, password, management_key: key } = given
  const ways = [link, email ?? password, key].filter((way) => way !== undefined)
  if (ways.length !== 1)
    throw fieldError('link', 'or "email" and "password", or "management_key": give one of the three.')
  if (link !== undefined) return dependencies.signIn.byLink(link, place)
  if (key !== undefined) return dependencies.signIn.byManagementKey(key, place)
  if (email === undefined) throw fieldError('email', 'is missing: it says whose password it is.')
  if (password === undefined) throw fieldError('password', 'is missing: give the one of this email.')
  return dependencies.signIn.byPassword({ email, password }, place)
}

function ownSessionRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const show = async (session: OpenSession) => jsonResponse({ data: await describe(session, dependencies) })
  return [
    {
      ...own,
      method: 'GET',
      name: 'session_read',
      handle: (exchange) => show(sessionOf(exchange)),
    },
    {
      ...own,
      method: 'PATCH',
      name: 'session_update',
      async handle(exchange) {
        const session = sessionOf(exchange)
        const fields = await readPersonBody(exchange, updatePersonSchema)
        refuseForKey(session)
        await dependencies.members.updateOwn(session.member.memberId, {
          ...(fields.email === undefined ? {} : { email: fields.email }),
          ...(fields.first_name === undefined ? {} : { firstName: fields.first_name }),
          ...(fields.last_name === undefined ? {} : { lastName: fields.last_name }),
        })
        return show(await reread(session, dependencies))
      },
    },
    {
      ...own,
      method: 'DELETE',
      name: 'sign_out',
      async handle(exchange) {
        const { session, member, principal } = sessionOf(exchange)
        const { organizationId } = principal
        await dependencies.sessions.end({
          organizationId,
          sessionId: session.sessionId,
          memberId: member.memberId,
        })
        return signedOut(exchange, { deleted: true }, dependencies)
      },
    },
    {
      ...own,
      path: '/headrace/session/password',
      method: 'POST',
      name: 'session_password',
      async handle(exchange) {
        const session = sessionOf(exchange)
        const fields = await readPersonBody(exchange, passwordSchema)
        await setPassword(session, fields, exchange, dependencies)
        return show(await reread(session, dependencies))
      },
    },
  ]
}

async function setPassword(
  session: OpenSession,
  fields: ReturnType<typeof passwordSchema.parse>,
  { request, asker }: HttpExchange,
  dependencies: HttpDependencies,
): Promise<void> {
  refuseForKey(session)
  const { email, password, current_password: currentPassword = null } = fields
  if (email === undefined && session.member.email === null)
    throw fieldError('email', 'is needed: with it and the password you sign in.')
  const place = { address: asker.clientAddress, userAgent: request.headers.get('user-agent') }
  await dependencies.signIn.requirePassword({ ...session, currentPassword, place })
  if (email !== undefined) await dependencies.members.updateOwn(session.member.memberId, { email })
  await dependencies.signIn.setPassword({ ...session, password })
}

/** Whoever signed in by a management key is nobody in particular. */
function refuseForKey({ session }: OpenSession): void {
  if (session.openedBy !== 'key') return
  throw new GatewayError(
    'permission_denied',
    'This session was opened by a management key and stands for nobody: invite yourself, and sign in by the link.',
  )
}

function sessionListRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const { sessions } = dependencies
  const all = { group: 'settings', access: 'management', path: '/headrace/sessions' } as const
  return [
    {
      ...all,
      method: 'GET',
      name: 'sessions_list',
      handle: withPrincipal(async (exchange) => {
        const { principal, query, session } = exchange
        const asked = parseField(sessionListQuerySchema, '', withPageNumbers(query()))
        const isOwn = session !== null && asked.all !== 'true'
        if (!isOwn) requireAdmin(exchange)
        const { offset = 0, limit = 50 } = asked
        const memberId = isOwn ? session.member.memberId : null
        const found = await sessions.list({
          organizationId: principal.organizationId,
          memberId,
          offset,
          limit,
        })
        const current = session?.session.sessionId ?? null
        return jsonResponse({ data: found.map((one) => describeListed(one, current)) })
      }),
    },
    {
      ...all,
      method: 'DELETE',
      name: 'sessions_end',
      handle: withPrincipal(async (exchange) => {
        const { principal, query, session } = exchange
        const asked = parseField(endSessionsQuerySchema, '', Object.fromEntries(query()))
        const ownId = session?.member.memberId
        const memberId = asked.member_id ?? ownId
        if (memberId === undefined) throw fieldError('member_id', 'is missing: it says whose sessions end.')
        if (memberId !== ownId) requireAdmin(exchange)
        const { organizationId } = principal
        await dependencies.members.load(organizationId, memberId)
        const answer = { deleted: true, count: await sessions.endAll({ organizationId, memberId }) }
        return memberId === ownId ? signedOut(exchange, answer, dependencies) : jsonResponse(answer)
      }),
    },
    {
      ...all,
      path: '/headrace/sessions/:id',
      method: 'DELETE',
      name: 'session_end',
      handle: withPrincipal(async (exchange) => {
        const { principal, params, session } = exchange
        const isAdmin = session === null || includesRole(session.member.role, 'admin')
        const memberId = isAdmin ? null : session.member.memberId
        const { organizationId } = principal
        const { id: sessionId = '' } = params
        await sessions.end({ organizationId, sessionId, memberId })
        const answer = { deleted: true }
        return sessionId === session?.session.sessionId
          ? signedOut(exchange, answer, dependencies)
          : jsonResponse(answer)
      }),
    },
  ]
}

/** Throws for a session of somebody who is no admin. */
function requireAdmin({ session }: HttpExchange): void {
  if (session === null || includesRole(session.member.role, 'admin')) return
  throw new GatewayError('permission_denied', 'Only admins see and end the sessions of other people.')
}

/** Reads a small JSON body. */
export async function readPersonBody<T>(
  { request }: HttpExchange,
  schema: Parameters<typeof parseField<T>>[0],
): Promise<T> {
  requireJson(request)
  return parseField(schema, '', parseJsonBody(await readBody(request, personBodyBytesMax)))
}

function sessionOf({ session }: HttpExchange): OpenSession {
  assert(session, 'a route for sessions has one')
  return session
}

async function reread(session: OpenSession, { members }: HttpDependencies): Promise<OpenSession> {
  const { organizationId } = session.principal
  return { ...session, member: await members.load(organizationId, session.member.memberId) }
}

/** An answer that also takes the cookie away. */
function signedOut({ request }: HttpExchange, body: unknown, dependencies: HttpDependencies): Response {
  const response = jsonResponse(body)
  response.headers.set('set-cookie', sessionCookie('', cookiePlaceOf(request, dependencies)))
  return response
}

async function describe(
  { session, member, principal }: OpenSession,
  dependencies: HttpDependencies,
): Promise<Record<string, unknown>> {
  const [organization, remaining] = await Promise.all([
    dependencies.organizations.load(principal.organizationId),
    dependencies.accounts.readKeyRemaining(principal),
  ])
  const { keyLimitNanocredits: limit, keyLimitReset } = principal
  return {
    id: session.sessionId,
    ...timesOf(session),
    role: member.role,
    person: { ...personOf(member), has_password: member.hasPassword },
    organization: {
      id: principal.organizationId,
      name: organization?.name ?? '',
      account_mode: principal.accountMode,
      is_filtered_model_catalog_enabled: principal.isFilteredModelCatalogEnabled,
    },
    playground: {
      key_id: principal.keyId,
      limit: limit === null ? null : toCredits(limit),
      limit_remaining: remaining === null ? null : toCredits(remaining),
      limit_reset: keyLimitReset,
    },
    allowed: allowedTo(member.role),
    version: dependencies.version,
  }
}

function describeListed(
  { session, member }: LoadedSession,
  currentId: string | null,
): Record<string, unknown> {
  return {
    id: session.sessionId,
    is_current: session.sessionId === currentId,
    ...timesOf(session),
    user_agent: session.userAgent,
    address: session.address,
    person: personOf(member),
  }
}

/** A person as every answer shows it. */
function personOf(member: LoadedSession['member']): Record<string, unknown> {
  return {
    id: member.memberId,
    email: member.email ?? '',
    first_name: member.firstName,
    last_name: member.lastName,
  }
}

function timesOf(session: LoadedSession['session']): Record<string, unknown> {
  const { openedBy, createdAtMs, lastUsedAtMs, expiresAtMs } = session
  return {
    opened_by: openedBy,
    created_at: new Date(createdAtMs).toISOString(),
    last_used_at: new Date(lastUsedAtMs).toISOString(),
    idle_expires_at: new Date(Math.min(lastUsedAtMs + sessionIdleMs, expiresAtMs)).toISOString(),
    expires_at: new Date(expiresAtMs).toISOString(),
  }
}
