import type { Role } from '../../canonical/principal.ts'
import type { Clock } from '../../core/clock.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { newId, randomText } from '../../core/ids.ts'
import { idleLimitOf, type KeyChanges, type KeyRecord } from '../key-record.ts'
import type { KeyRepository } from '../key-repository.ts'
import { makeKey, type Keys } from '../keys.ts'
import { hashSecret } from '../secret.ts'
import type { MemberChanges, MemberRecord } from './member-record.ts'
import type { MemberPage, MemberRepository, NewMember, StoredLink } from './member-repository.ts'

/** How long a link signs somebody in. */
const linkLengthMs = 24 * 3_600_000
/** What a person's own calls may cost in a month until somebody sets another limit: 10 credits. */
const playgroundNanocredits = 10_000_000_000n
/** 64 of 36 characters: 330 bits. */
const tokenLength = 64
/** A fixed id: when several processes start at once, exactly one makes the first person. */
const firstMemberId = 'member_default'

/** A link's token, shown once. */
export interface MadeLink {
  token: string
  expiresAtMs: number
  member: MemberRecord
}

/** A person to invite. */
export interface Invitation {
  organizationId: string
  email: string | null
  firstName: string | null
  lastName: string | null
  role: Role
}

/** What an admin changes about a person. Absent members stay as they are. */
export interface MemberSettings {
  role?: Role
  playground?: Pick<KeyChanges, 'limitNanocredits' | 'limitReset'>
}

/** The people of organizations, and the links that sign them in. Changes count at once, also in open sessions. */
export interface Members {
  /** A link for the first admin; null when the organization has, or had, people. */
  makeFirstLink(organizationId: string): Promise<MadeLink | null>
  /**
   * A link for the person with this email, who is made if nobody has it. Without an email: for the oldest admin when the role
   * is admin, else for somebody new. Throws `conflict` when that person has another role.
   */
  makeLinkFor(asked: { organizationId: string; email: string | null; role: Role | null }): Promise<MadeLink>
  /** Adds a person, with a link. Throws `conflict` when the email is taken. */
  invite(invitation: Invitation): Promise<MadeLink>
  /** Another link in the place of the former ones. Throws `not_found`. */
  makeLink(organizationId: string, memberId: string): Promise<MadeLink>
  list(page: MemberPage): Promise<{ members: MemberRecord[]; total: number }>
  /** Throws `not_found`, also for a person of another organization. */
  load(organizationId: string, memberId: string): Promise<MemberRecord>
  /** The hidden key that pays for the person's calls. */
  loadKey(member: Pick<MemberRecord, 'keyId'>): Promise<KeyRecord>
  /** Throws `not_found`, and `conflict` for the last admin. */
  update(organizationId: string, memberId: string, settings: MemberSettings): Promise<MemberRecord>
  /** What people change about themselves. Throws `conflict` when the email is taken. */
  updateOwn(memberId: string, changes: MemberChanges): Promise<void>
  /** The person of everybody who signs in with this management key; made at the first time. */
  ofManagementKey(key: Pick<KeyRecord, 'organizationId' | 'keyId'>): Promise<MemberRecord>
  /** Throws `not_found`, and `conflict` for the last admin. Batches that were accepted go on. */
  remove(organizationId: string, memberId: string): Promise<void>
}

/** What members need. */
export interface MembersOptions {
  repository: MemberRepository
  keyRepository: Pick<KeyRepository, 'loadById'>
  keys: Pick<Keys, 'update'>
  clock: Clock
}

/** People in storage. */
export function createMembers(options: MembersOptions): Members {
  const { repository, clock } = options
  const load = async (organizationId: string, memberId: string): Promise<MemberRecord> => {
    const member = await repository.load(memberId)
    if (member?.organizationId === organizationId) return member
    throw noSuchMember()
  }
  const loadKey = async ({ keyId }: Pick<MemberRecord, 'keyId'>): Promise<KeyRecord> => {
    const loaded = await options.keyRepository.loadById(keyId)
    if (loaded) return loaded.key
    throw new GatewayError('conflict', 'The key that pays for the calls of this person was deleted.')
  }
  return {
    ...createLinks(options, load),
    list: (page) => repository.list(page),
    load,
    loadKey,
    async update(organizationId, memberId, { role, playground }) {
      const member = await load(organizationId, memberId)
      const key = playground && (await loadKey(member))
      if (playground && key && idleLimitOf(playground, key) === 'reset')
        throw fieldError('playground.limit_reset', 'is about a limit: give "limit" too.')
      if (role !== undefined && role !== member.role)
        requireDone(await repository.setRole(somebody(member), role))
      if (playground && key) await options.keys.update(organizationId, key.keyHash, playground)
      return load(organizationId, memberId)
    },
    async updateOwn(memberId, changes) {
      const isDone = await repository.update(memberId, changes)
      if (isDone === null) throw noSuchMember()
      if (!isDone) throw emailTaken()
    },
    async ofManagementKey({ organizationId, keyId }) {
      const found = await repository.findByManagementKey(keyId)
      if (found) return found
      const made = makeMember(
        { organizationId, ...nobodyYet, role: 'admin', managementKeyId: keyId },
        clock.nowMs(),
      )
      if (await repository.insert(made, null)) return made.member
      const other = await repository.findByManagementKey(keyId)
      if (other) return other
      throw noSuchMember()
    },
    async remove(organizationId, memberId) {
      const member = somebody(await load(organizationId, memberId))
      requireDone(await repository.remove(member, clock.nowMs()))
    },
  }
}

type LinkMaking = Pick<Members, 'makeFirstLink' | 'makeLinkFor' | 'invite' | 'makeLink'>

function createLinks({ repository, clock }: MembersOptions, load: Members['load']): LinkMaking {
  const replaceLink = async (member: MemberRecord): Promise<MadeLink> => {
    const { link, token } = newLink(member.memberId, clock.nowMs())
    if (!(await repository.replaceLink(link))) throw noSuchMember()
    return { token, expiresAtMs: link.expiresAtMs, member }
  }
  const invite = (invitation: Invitation) => insertWithLink(repository, makeMember(invitation, clock.nowMs()))
  return {
    async makeFirstLink(organizationId) {
      if (await repository.hasAny(organizationId)) return null
      const nowMs = clock.nowMs()
      const first = { organizationId, ...nobodyYet, role: 'admin', memberId: firstMemberId } as const
      const made = makeMember(first, nowMs)
      const { link, token } = newLink(firstMemberId, nowMs)
      const isMade = await repository.insert(made, link)
      return isMade ? { token, expiresAtMs: link.expiresAtMs, member: made.member } : null
    },
    async makeLinkFor({ organizationId, email, role }) {
      const found =
        email === null
          ? await adminFor(role, organizationId, repository)
          : await repository.findByEmail(organizationId, email)
      if (!found) return invite({ organizationId, ...nobodyYet, email, role: role ?? 'admin' })
      if (role !== null && role !== found.role)
        throw new GatewayError('conflict', `This person is ${found.role}; an admin changes the role.`)
      return replaceLink(found)
    },
    invite,
    makeLink: async (organizationId, memberId) => replaceLink(somebody(await load(organizationId, memberId))),
  }
}

/** Somebody of whom only the role is known. */
const nobodyYet = { email: null, firstName: null, lastName: null }

/** Throws `conflict` for an entry that stands for a management key. */
function somebody(member: MemberRecord): MemberRecord {
  if (member.managementKeyId === null) return member
  throw new GatewayError(
    'conflict',
    'This entry stands for a management key: disable or delete the key instead.',
  )
}

/** The oldest admin, where a link for an admin is asked for and nobody in particular is named. */
function adminFor(
  role: Role | null,
  organizationId: string,
  repository: MemberRepository,
): Promise<MemberRecord | null> {
  if (role !== null && role !== 'admin') return Promise.resolve(null)
  return repository.loadFirstAdmin(organizationId)
}

async function insertWithLink(repository: MemberRepository, made: NewMember): Promise<MadeLink> {
  const { link, token } = newLink(made.member.memberId, made.member.createdAtMs)
  if (!(await repository.insert(made, link))) throw emailTaken()
  return { token, expiresAtMs: link.expiresAtMs, member: made.member }
}

/** A person that is not stored yet, and the key that will pay for the person's calls. Its secret is thrown away. */
function makeMember(
  asked: Invitation & { memberId?: string; managementKeyId?: string },
  nowMs: number,
): NewMember {
  const { memberId = newId('member', nowMs), managementKeyId = null, ...said } = asked
  const { key } = makeKey(
    {
      organizationId: asked.organizationId,
      kind: 'playground',
      name: 'Playground',
      limitNanocredits: playgroundNanocredits,
      limitReset: 'monthly',
    },
    nowMs,
  )
  return {
    key,
    member: {
      ...said,
      memberId,
      managementKeyId,
      hasPassword: false,
      keyId: key.keyId,
      createdAtMs: nowMs,
      joinedAtMs: null,
    },
  }
}

function newLink(memberId: string, nowMs: number): { link: StoredLink; token: string } {
  const token = `hr-link-${randomText(tokenLength)}`
  return {
    token,
    link: { linkHash: hashSecret(token), memberId, createdAtMs: nowMs, expiresAtMs: nowMs + linkLengthMs },
  }
}

function requireDone(isDone: boolean | null): void {
  if (isDone === null) throw noSuchMember()
  if (!isDone)
    throw new GatewayError(
      'conflict',
      'This is the last admin who can sign in: make somebody else an admin first, who then signs in once.',
    )
}

function noSuchMember(): GatewayError {
  return new GatewayError('not_found', 'There is no person with this id.', { param: 'id' })
}

function emailTaken(): GatewayError {
  return new GatewayError('conflict', 'Another person of the organization has this email.', {
    param: 'email',
  })
}
