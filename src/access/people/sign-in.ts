import type { Principal } from '../../canonical/principal.ts'
import { GatewayError } from '../../core/errors.ts'
import { hashSecret } from '../secret.ts'
import { createUnknownKeys, type UnknownKeysOptions } from '../unknown-keys.ts'
import type { MemberRecord } from './member-record.ts'
import type { MemberRepository } from './member-repository.ts'
import type { Members } from './members.ts'
import type { Passwords } from './password.ts'
import { createPasswordTries } from './password-tries.ts'
import type { LoadedSession } from './session-repository.ts'
import type { OpenedSession, Sessions, SignInPlace } from './sessions.ts'

/** People of several organizations who may have the same email; each costs the check of a password. */
const sameEmailMax = 5

/** How long a session that a link opened may set another password without the present one, which may be lost. */
const linkSetsPasswordMs = 3_600_000

/** Told to a person whose guess waits for its turn too long. */
const tooManyFromHere =
  'Too many sign-ins with a wrong link or password come from this address. Try again in a moment.'
const tooManyOfEmail = 'Too many sign-ins with a wrong password are for this email. Try again in a moment.'

/** Ways to open a session. Guesses are told slowly, for each address and for each email, as with unknown keys. */
export interface SignIn {
  /** Uses the link up. Rejects with `authentication` when it does not work, or not any more. */
  byLink(token: string, place: SignInPlace): Promise<OpenedSession>
  byPassword(given: { email: string; password: string }, place: SignInPlace): Promise<OpenedSession>
  /** Rejects with `permission_denied` for a key of another kind. */
  byManagementKey(key: string, place: SignInPlace): Promise<OpenedSession>
  /** Throws `permission_denied` unless the present password is given, where one is needed to set another. */
  requirePassword(
    asked: LoadedSession & { currentPassword: string | null; place: SignInPlace },
  ): Promise<void>
  /** Sets the password of a session's person and ends the person's other sessions. */
  setPassword(asked: LoadedSession & { password: string }): Promise<void>
}

/** What signing in needs. */
export interface SignInOptions extends UnknownKeysOptions {
  repository: MemberRepository
  members: Members
  sessions: Sessions
  passwords: Passwords
  /** The owner of a key; rejects as `Authenticator.authenticate` does. */
  ownerOf: (key: string, address: string) => Principal | Promise<Principal>
}

/** Signing in, against storage. */
export function createSignIn(options: SignInOptions): SignIn {
  const { repository, members, sessions, passwords, clock } = options
  const guesses = createUnknownKeys(options, tooManyFromHere)
  const guessesOfEmail = createUnknownKeys(options, tooManyOfEmail)
  const lookUp = <T>(turns: typeof guesses, name: string, load: () => Promise<T | null>) =>
    turns.lookUp(name, { wasLookedUp: false, wasTold: false, load })

  const tries = createPasswordTries(options)
  return {
    async byLink(token, place) {
      const opened = await lookUp(guesses, place.address, async () => {
        const member = await repository.findByLink(hashSecret(token), clock.nowMs())
        return member && sessions.open({ member, openedBy: 'link', link: token, place })
      })
      if (opened) return opened
      throw new GatewayError(
        'authentication',
        'This link does not work: it was used, it is older than a day, or another one took its place. Ask for another one: npx headrace admin link',
      )
    },
    async byPassword({ email, password }, place) {
      const opened = await lookUp(guesses, place.address, () =>
        lookUp(guessesOfEmail, email, async () => {
          const member = await tries.check(place.address, () => findByPassword({ email, password }, options))
          return member && sessions.open({ member, openedBy: 'password', place })
        }),
      )
      if (opened) return opened
      throw new GatewayError('authentication', 'The email or the password is wrong.')
    },
    async byManagementKey(key, place) {
      const owner = await options.ownerOf(key, place.address)
      if (owner.keyKind !== 'management')
        throw new GatewayError('permission_denied', 'A management key is required; this is an inference key.')
      const member = await members.ofManagementKey(owner)
      const opened = await sessions.open({ member, openedBy: 'key', managementKeyId: owner.keyId, place })
      if (opened) return opened
      throw new GatewayError('authentication', 'The management key cannot be used any more.')
    },
    async requirePassword({ member, session, currentPassword, place }) {
      const stored = await repository.passwordHashOf(member.memberId)
      const isFromLink =
        session.openedBy === 'link' && clock.nowMs() - session.createdAtMs < linkSetsPasswordMs
      if (stored === null || isFromLink) return
      const isRight = await lookUp(guesses, place.address, () =>
        tries.check(place.address, async () =>
          (await passwords.isRight(currentPassword ?? '', stored)) ? true : null,
        ),
      )
      if (isRight) return
      throw new GatewayError(
        'permission_denied',
        'The present password is wrong. Send it as "current_password", or sign in by a link to set another one.',
        { param: 'current_password' },
      )
    },
    async setPassword({ member, session, password }) {
      const passwordHash = await passwords.hash(password)
      await repository.setPassword(member.memberId, passwordHash, session.sessionId)
    },
  }
}

/** The person whose password it is; the time it takes does not tell whether there is one. */
async function findByPassword(
  { email, password }: { email: string; password: string },
  { repository, passwords }: Pick<SignInOptions, 'repository' | 'passwords'>,
): Promise<MemberRecord | null> {
  const holders = await repository.findPasswordHolders(email, sameEmailMax)
  if (holders.length === 0) await passwords.isRight(password, null)
  for (const { member, passwordHash } of holders)
    if (await passwords.isRight(password, passwordHash)) return member
  return null
}
