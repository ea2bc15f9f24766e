import type { MemberRecord } from '../../access/people/member-record.ts'
import type { MadeLink, MemberSettings } from '../../access/people/members.ts'
import { toCredits } from '../../core/money.ts'
import { parseField } from '../../formats/field-error.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { withPageNumbers } from '../page-numbers.ts'
import { type HttpExchange, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'
import { inviteSchema, memberListQuerySchema, updateMemberSchema } from '../schemas/people.ts'
import { signInUrl } from '../../access/people/sign-in-url.ts'
import { limitChangesOf } from './keys.ts'
import { readPersonBody } from './sessions.ts'

const shared = { group: 'settings', access: 'management' } as const

/** The people of an organization: list, invite, change, remove. */
export function memberRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const { members } = dependencies
  const one = { ...shared, path: '/headrace/members/:id' } as const
  return [
    {
      ...shared,
      path: '/organization/members',
      method: 'GET',
      name: 'members_list',
      handle: withPrincipal(async ({ principal, query }) => {
        const asked = parseField(memberListQuerySchema, '', withPageNumbers(query()))
        const { offset = 0, limit = 50, include } = asked
        const { organizationId } = principal
        const page = await members.list({ organizationId, isWhole: include === 'all', offset, limit })
        const data = await Promise.all(page.members.map((member) => describe(member, dependencies)))
        return jsonResponse({ data, total_count: page.total })
      }),
    },
    {
      ...shared,
      path: '/headrace/members',
      method: 'POST',
      name: 'members_invite',
      handle: withPrincipal(async (exchange) => {
        const fields = await readPersonBody(exchange, inviteSchema)
        const made = await members.invite({
          organizationId: exchange.principal.organizationId,
          email: fields.email,
          firstName: fields.first_name ?? null,
          lastName: fields.last_name ?? null,
          role: fields.role,
        })
        const data = await describe(made.member, dependencies)
        return jsonResponse({ data, ...describeLink(made, exchange, dependencies) }, 201)
      }),
    },
    {
      ...one,
      method: 'PATCH',
      name: 'members_update',
      handle: withPrincipal(async (exchange) => {
        const fields = await readPersonBody(exchange, updateMemberSchema)
        const { organizationId } = exchange.principal
        const { id = '' } = exchange.params
        const member = await members.update(organizationId, id, settingsOf(fields))
        return jsonResponse({ data: await describe(member, dependencies) })
      }),
    },
    {
      ...one,
      method: 'DELETE',
      name: 'members_remove',
      handle: withPrincipal(async ({ principal, params: { id = '' } }) => {
        await members.remove(principal.organizationId, id)
        return jsonResponse({ deleted: true })
      }),
    },
    {
      ...one,
      path: '/headrace/members/:id/link',
      method: 'POST',
      name: 'members_link',
      handle: withPrincipal(async (exchange) => {
        const { id = '' } = exchange.params
        const made = await members.makeLink(exchange.principal.organizationId, id)
        return jsonResponse(describeLink(made, exchange, dependencies), 201)
      }),
    },
  ]
}

function settingsOf({ role, playground }: ReturnType<typeof updateMemberSchema.parse>): MemberSettings {
  const limit = playground && limitChangesOf(playground)
  return {
    ...(role === undefined ? {} : { role }),
    // A reset without its limit would return with the next limit.
    ...(limit
      ? { playground: limit.limitNanocredits === null ? { ...limit, limitReset: null } : limit }
      : {}),
  }
}

function describeLink(
  { token, expiresAtMs }: MadeLink,
  { request }: HttpExchange,
  { originOf, basePath }: Pick<HttpDependencies, 'originOf' | 'basePath'>,
): Record<string, unknown> {
  const link = signInUrl(`${originOf(request)}${basePath}`, token)
  return { link, expires_at: new Date(expiresAtMs).toISOString() }
}

async function describe(
  member: MemberRecord,
  { members }: Pick<HttpDependencies, 'members'>,
): Promise<Record<string, unknown>> {
  const key = await members.loadKey(member)
  return {
    id: member.memberId,
    email: member.email ?? '',
    first_name: member.firstName,
    last_name: member.lastName,
    role: member.role === 'admin' ? 'org:admin' : 'org:member',
    headrace: {
      role: member.role,
      state: stateOf(member),
      has_password: member.hasPassword,
      created_at: new Date(member.createdAtMs).toISOString(),
      joined_at: member.joinedAtMs === null ? null : new Date(member.joinedAtMs).toISOString(),
      playground: {
        key_id: key.keyId,
        limit: key.limitNanocredits === null ? null : toCredits(key.limitNanocredits),
        limit_reset: key.limitReset,
      },
    },
  }
}

function stateOf({ managementKeyId, joinedAtMs }: MemberRecord): 'active' | 'invited' | 'key' {
  if (managementKeyId !== null) return 'key'
  return joinedAtMs === null ? 'invited' : 'active'
}
