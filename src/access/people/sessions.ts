import type { Person, Principal } from '../../canonical/principal.ts'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { newId, randomText } from '../../core/ids.ts'
import { sessionIdleMs } from '../../core/limits/access.ts'
import { hashSecret } from '../secret.ts'
import { createUnknownKeys, type UnknownKeysOptions } from '../unknown-keys.ts'
import type { MemberRecord, OpenedBy } from './member-record.ts'
import type { MemberRepository } from './member-repository.ts'
import type { LoadedSession, SessionAge, SessionRepository } from './session-repository.ts'

/** How long a session stays open at most. */
const sessionLengthMs = 7 * 86_400_000
/** How much later than the last noted use a use is noted, so that not every request writes. */
const touchEveryMs = 60_000
/** 64 of 36 characters: 330 bits. */
const secretLength = 64
const userAgentLengthMax = 200

/** The principal of a session: with a person. */
export interface SessionPrincipal extends Principal {
  person: Person
}

/** A request's session. */
export interface OpenSession extends LoadedSession {
  principal: SessionPrincipal
}

/** A session that was just opened; the secret goes into the cookie and nowhere else. */
export interface OpenedSession {
  secret: string
  sessionId: string
}

/** From where somebody signs in. */
export interface SignInPlace {
  address: string
  userAgent: string | null
}

/** What a session is opened with. */
export interface SessionOpening {
  member: MemberRecord
  openedBy: OpenedBy
  /** The token of the link that is used up by it. */
  link?: string
  managementKeyId?: string
  place: SignInPlace
}

/** Sessions of people. Every request reads its session from storage, so an end counts at once, in every process. */
export interface Sessions {
  /**
   * The session with this secret. Rejects with `SessionEnded` when there is none, and with `rate_limit_exceeded` when too
   * many unknown ones come from this address.
   */
  authenticate(secret: string, addressOf: () => string): Promise<OpenSession>
  /** Null when the link was used meanwhile, or the person was removed. */
  open(opening: SessionOpening): Promise<OpenedSession | null>
  /** Open ones, the latest used first. */
  list(asked: {
    organizationId: string
    memberId: string | null
    offset: number
    limit: number
  }): Promise<LoadedSession[]>
  /** Throws `not_found`. With `memberId` only one of this person. */
  end(named: { organizationId: string; sessionId: string; memberId: string | null }): Promise<void>
  /** The number of sessions that were ended. */
  endAll(named: { organizationId: string; memberId: string }): Promise<number>
}

/** What sessions need. */
export interface SessionsOptions extends Pick<UnknownKeysOptions, 'wakeAfter'> {
  repository: SessionRepository
  members: Pick<MemberRepository, 'openSession'>
  /** The principal of a key by its id; null when the key may not be used. */
  principalOf: (keyId: string) => Promise<Principal | null>
  clock: Clock
}

/** The session of a request has ended, or never was. */
export class SessionEnded extends GatewayError {
  constructor() {
    super('authentication', 'You are not signed in, or the session has ended. Sign in again.')
  }
}

const tooManyEnded = 'Too many sessions that have ended come from this address. Try again in a moment.'

/** Sessions in storage. */
export function createSessions(options: SessionsOptions): Sessions {
  const { repository, members, clock } = options
  const unknown = createUnknownKeys(options, tooManyEnded)
  const find = async (secret: string): Promise<OpenSession | null> => {
    const found = await repository.loadByHash(hashSecret(secret), ageAt(clock.nowMs()))
    const principal = found && (await principalOf(found, options.principalOf))
    if (!found || !principal) return null
    await touch(found, repository, clock.nowMs())
    return { ...found, principal }
  }
  return {
    async authenticate(secret, addressOf) {
      const found = await unknown.lookUp(addressOf(), {
        wasLookedUp: false,
        wasTold: false,
        load: () => find(secret),
      })
      if (found) return found
      throw new SessionEnded()
    },
    async open({ member, openedBy, link, managementKeyId = null, place }) {
      const nowMs = clock.nowMs()
      const secret = randomText(secretLength)
      const session = {
        sessionId: newId('sess', nowMs),
        memberId: member.memberId,
        openedBy,
        managementKeyId,
        userAgent: place.userAgent?.slice(0, userAgentLengthMax) ?? null,
        address: place.address,
        createdAtMs: nowMs,
        lastUsedAtMs: nowMs,
        expiresAtMs: nowMs + sessionLengthMs,
      }
      const { idleSinceMs } = ageAt(nowMs)
      const opened = { sessionHash: hashSecret(secret), session, idleSinceMs }
      const isOpen = await members.openSession(opened, link === undefined ? null : hashSecret(link))
      return isOpen ? { secret, sessionId: session.sessionId } : null
    },
    list: (asked) => repository.list({ ...asked, ...ageAt(clock.nowMs()) }),
    async end(named) {
      if (await repository.end(named)) return
      throw new GatewayError('not_found', 'There is no session with this id.', { param: 'id' })
    },
    endAll: (named) => repository.endAll(named),
  }
}

function ageAt(nowMs: number): SessionAge {
  return { nowMs, idleSinceMs: nowMs - sessionIdleMs }
}

/** Null when the organization is gone, or the management key that opened the session may not be used any more. */
async function principalOf(
  { session, member }: LoadedSession,
  principalOfKey: SessionsOptions['principalOf'],
): Promise<SessionPrincipal | null> {
  const { sessionId, managementKeyId } = session
  if (managementKeyId !== null && (await principalOfKey(managementKeyId)) === null) return null
  const own = await principalOfKey(member.keyId)
  const { memberId, role } = member
  return own && Object.freeze({ ...own, memberId, person: Object.freeze({ memberId, role, sessionId }) })
}

/** A use that storage cannot note now does not fail the request. */
async function touch(
  { session }: LoadedSession,
  repository: SessionRepository,
  nowMs: number,
): Promise<void> {
  if (nowMs - session.lastUsedAtMs < touchEveryMs) return
  await repository.touch(session.sessionId, nowMs).catch(() => undefined)
}
