import { signInUrl } from '../../access/people/sign-in-url.ts'
import { type Role, roles } from '../../canonical/principal.ts'
import { GatewayError } from '../../core/errors.ts'
import { emailLengthMax } from '../../core/limits/access.ts'
import { timestamp } from '../amounts.ts'
import { parseArguments } from '../arguments.ts'
import { baseUrlOf, consoleUrlOf } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { findOrganization, withStorage } from '../local-storage.ts'

const text = { type: 'string' } as const

/** `headrace admin link`: works on the database directly. */
export async function runAdmin(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('admin', args, { role: text, email: text, org: text }, 1)
  const [action] = parsed.words
  if (action !== 'link')
    throw usageFailure(
      action === undefined ? 'What should be done? "admin link".' : `There is no "admin ${action}".`,
      'admin',
    )
  const role = roleOf(parsed.text('role'))
  const email = emailOf(parsed.text('email'))
  const root = consoleUrlOf(baseUrlOf(context.env, context.readConfig()))
  await withStorage(context, async (storage) => {
    const { organizationId } = await findOrganization(storage, parsed.text('org'))
    const { token, expiresAtMs, member } = await storage.members
      .makeLinkFor({ organizationId, role, email })
      .catch((error: unknown) => {
        throw error instanceof GatewayError && error.type === 'conflict'
          ? new CommandFailure(error.message)
          : error
      })
    const who = [member.role, member.email].filter((part) => part !== null).join(', ')
    context.write(`${signInUrl(root, token)}\n`)
    context.writeError(`Signs in once, until ${timestamp(expiresAtMs)} UTC: ${who} (${member.memberId})\n`)
  })
  return 0
}

function roleOf(given: string | undefined): Role | null {
  if (given === undefined) return null
  const role = roles.find((known) => known === given)
  if (role !== undefined) return role
  throw usageFailure(`There is no role "${given}"; there are ${roles.join(', ')}.`, 'admin')
}

function emailOf(given: string | undefined): string | null {
  if (given === undefined) return null
  const email = given.trim().toLowerCase()
  if (email.length <= emailLengthMax && /^[^\s@]+@[^\s@]+$/.test(email)) return email
  throw usageFailure(`"${given}" is not an email address.`, 'admin')
}
