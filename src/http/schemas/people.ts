import { z } from 'zod'
import { roles } from '../../canonical/principal.ts'
import { emailLengthMax, importedKeyLengthMax } from '../../core/limits/access.ts'
import { playgroundLimitSchema } from './keys.ts'

/** The length of a password, and of the names of people. */
const passwordLengthMin = 12
const passwordLengthMax = 256
const personNameLengthMax = 100

const role = z.enum(roles).describe('`viewer` reads figures, `member` also makes calls, `admin` does all.')
const email = z.string().trim().toLowerCase().max(emailLengthMax).pipe(z.email())
const personName = z.string().trim().min(1).max(personNameLengthMax).nullable().optional()
const id = z.string()
const time = z.string()

/** Body of `POST /headrace/session`: one of three ways. */
export const signInSchema = z
  .strictObject({
    link: z
      .string()
      .min(1)
      .max(importedKeyLengthMax)
      .optional()
      .describe('The token of a link, which it uses up.'),
    email: z.string().trim().toLowerCase().min(1).max(emailLengthMax).optional(),
    password: z.string().min(1).max(passwordLengthMax).optional().describe('With `email`.'),
    management_key: z
      .string()
      .min(1)
      .max(importedKeyLengthMax)
      // A key has printable characters of ASCII and no spaces; others cannot stand in the header that is looked up.
      .regex(/^[!-~]+$/)
      .optional(),
  })
  .meta({ id: 'SignIn', examples: [{ link: 'hr-link-…' }] })

/** Body of `PATCH /headrace/session`. Absent members stay as they are. */
export const updatePersonSchema = z
  .strictObject({
    email: email.optional().describe('With the password it signs in; unique in the organization.'),
    first_name: personName,
    last_name: personName,
  })
  .meta({ id: 'UpdatePerson', examples: [{ email: 'ann@example.com' }] })

/** Body of `POST /headrace/session/password`. */
export const passwordSchema = z
  .strictObject({
    password: z.string().min(passwordLengthMin).max(passwordLengthMax),
    current_password: z
      .string()
      .max(passwordLengthMax)
      .optional()
      .describe('Needed where there is one, unless a link opened this session within the hour.'),
    email: email.optional().describe('Needed where the person has none.'),
  })
  .meta({ id: 'SetPassword', examples: [{ password: 'a phrase of some length', email: 'ann@example.com' }] })

/** Body of `POST /headrace/members`. */
export const inviteSchema = z
  .strictObject({ email, first_name: personName, last_name: personName, role })
  .meta({ id: 'InviteMember', examples: [{ email: 'ann@example.com', role: 'member' }] })

/** Body of `PATCH /headrace/members/{id}`. */
export const updateMemberSchema = z
  .strictObject({
    role: role.optional(),
    playground: playgroundLimitSchema.optional().describe('What the person’s own calls may cost.'),
  })
  .meta({ id: 'UpdateMember', examples: [{ role: 'viewer' }] })

const pageNumbers = {
  offset: z.int().min(0).max(999_999_999).default(0).optional(),
  limit: z.int().min(1).max(100).default(50).optional(),
}

/** Query of `GET /organization/members`. */
export const memberListQuerySchema = z.object({
  ...pageNumbers,
  include: z
    .enum(['all'])
    .optional()
    .describe('`all`: also people who were only invited, and those that stand for a management key.'),
})

/** Query of `GET /headrace/sessions`. */
export const sessionListQuerySchema = z.object({
  ...pageNumbers,
  all: z.enum(['true', 'false']).optional().describe('`true`: of everybody; for admins.'),
})

/** Query of `DELETE /headrace/sessions`. */
export const endSessionsQuerySchema = z.object({
  member_id: z.string().optional().describe('Another person; for admins.'),
})

const playground = z.object({
  key_id: z.string(),
  limit: z.number().nullable(),
  limit_reset: z.string().nullable(),
})

/** A person, as the contract has it, and what it has no member for. */
export const memberSchema = z
  .object({
    id,
    email: z.string().describe('Empty while nobody said it.'),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    role: z.enum(['org:admin', 'org:member']),
    headrace: z.object({
      role,
      state: z.enum(['active', 'invited', 'key']),
      has_password: z.boolean(),
      created_at: time,
      joined_at: time.nullable(),
      playground,
    }),
  })
  .meta({ id: 'Member' })

/** Answer of `GET /organization/members`. */
export const memberListSchema = z.object({ data: z.array(memberSchema), total_count: z.int() })

const link = {
  link: z.string().describe('Signs the person in, once. Shown this once.'),
  expires_at: time,
}

/** Answer of `POST /headrace/members`, and of another link. */
export const invitedSchema = z.object({ data: memberSchema, ...link })
export const linkSchema = z.object(link)

const person = z.object({
  id,
  email: z.string(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
})
const times = {
  opened_by: z.enum(['link', 'password', 'key']),
  created_at: time,
  last_used_at: time,
  idle_expires_at: time.describe('When it ends unless it is used.'),
  expires_at: time.describe('When it ends at the latest.'),
}

/** `data` of the own session. */
export const sessionSchema = z
  .object({
    id,
    ...times,
    role,
    person: person.extend({ has_password: z.boolean() }),
    organization: z.object({
      id,
      name: z.string(),
      account_mode: z.enum(['prepaid', 'tracked']),
      is_filtered_model_catalog_enabled: z.boolean(),
    }),
    playground: playground.extend({ limit_remaining: z.number().nullable() }),
    allowed: z.array(z.string()).describe('Every method and path that this role may call.'),
    version: z.string(),
  })
  .meta({ id: 'Session' })

/** An entry of `GET /headrace/sessions`. */
export const listedSessionSchema = z
  .object({
    id,
    is_current: z.boolean(),
    ...times,
    user_agent: z.string().nullable(),
    address: z.string(),
    person,
  })
  .meta({ id: 'ListedSession' })
