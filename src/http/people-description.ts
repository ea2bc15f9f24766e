import { z } from 'zod'
import { type Described, json } from './described.ts'
import {
  endSessionsQuerySchema,
  invitedSchema,
  inviteSchema,
  linkSchema,
  listedSessionSchema,
  memberListQuerySchema,
  memberListSchema,
  memberSchema,
  passwordSchema,
  sessionListQuerySchema,
  sessionSchema,
  signInSchema,
  updateMemberSchema,
  updatePersonSchema,
} from './schemas/people.ts'

const memberExample = {
  id: 'member_0mwutuy5s8zfvlzuw1m5pdrm',
  email: 'ann@example.com',
  first_name: 'Ann',
  last_name: null,
  role: 'org:member',
  headrace: {
    role: 'member',
    state: 'active',
    has_password: true,
    created_at: '2026-11-24T15:06:22.960Z',
    joined_at: '2026-11-24T15:09:41.004Z',
    playground: { key_id: 'key_0mwutuy5st2pmm48y527hdx6', limit: 10, limit_reset: 'monthly' },
  },
}
const linkExample = {
  link: 'http://127.0.0.1:8787/ui/#sign-in=hr-link-…',
  expires_at: '2026-11-25T15:06:22.960Z',
}
const times = {
  opened_by: 'link',
  created_at: '2026-11-24T15:06:22.978Z',
  last_used_at: '2026-11-24T15:06:22.978Z',
  idle_expires_at: '2026-11-25T03:06:22.978Z',
  expires_at: '2026-12-01T15:06:22.978Z',
}
const personExample = {
  id: memberExample.id,
  email: 'ann@example.com',
  first_name: 'Ann',
  last_name: null,
}
const sessionExample = {
  id: 'sess_0mwutuy6aev36a09kdwomhn2',
  ...times,
  role: 'member',
  person: { ...personExample, has_password: true },
  organization: {
    id: 'org_default',
    name: 'Default',
    account_mode: 'tracked',
    is_filtered_model_catalog_enabled: false,
  },
  playground: { ...memberExample.headrace.playground, limit_remaining: 9.98 },
  allowed: ['GET /models', 'POST /chat/completions'],
  version: '0.1.0',
}
const listedExample = {
  id: sessionExample.id,
  is_current: true,
  ...times,
  user_agent: 'Mozilla/5.0 …',
  address: '10.0.0.7',
  person: personExample,
}

const people = { tag: 'Organization', access: 'management' } as const
const sessions = { tag: 'Sessions', access: 'session' } as const
const session = json(z.object({ data: sessionSchema }), { data: sessionExample })
const member = json(z.object({ data: memberSchema }), { data: memberExample })
const deleted = z.object({ deleted: z.literal(true) })
const cookie = [{ name: 'Set-Cookie', description: 'The session, or its end.' }]
const readErrors = [400, 401, 403, 429, 500]
const changeErrors = [400, 401, 403, 404, 409, 413, 429, 500]

/** The operations on people. */
const memberDescription: Readonly<Record<string, Described>> = {
  'GET /organization/members': {
    ...people,
    id: 'listOrganizationMembers',
    summary: 'List the people of the organization',
    description: 'The oldest first.',
    query: memberListQuerySchema,
    answer: {
      status: 200,
      description: 'The people',
      content: json(memberListSchema, { data: [memberExample], total_count: 1 }),
    },
    errors: readErrors,
  },
  'POST /headrace/members': {
    ...people,
    id: 'inviteMember',
    summary: 'Invite somebody',
    description:
      'The answer has a link that signs the person in once, within 24 hours. Nothing is sent by mail.',
    body: json(inviteSchema, { email: 'ann@example.com', role: 'member' }),
    answer: {
      status: 201,
      description: 'The person and the link, which no later answer has',
      content: json(invitedSchema, { data: memberExample, ...linkExample }),
    },
    errors: [400, 401, 403, 409, 413, 429, 500],
  },
  'POST /headrace/members/:id/link': {
    ...people,
    id: 'makeMemberLink',
    summary: 'Make another link for somebody',
    description: 'For a lost password, or an invitation that ended. Earlier links of the person end.',
    answer: { status: 201, description: 'The link', content: json(linkSchema, linkExample) },
    errors: [401, 403, 404, 409, 429, 500],
  },
  'PATCH /headrace/members/:id': {
    ...people,
    id: 'updateMember',
    summary: 'Change the role or the playground’s limit of somebody',
    description: 'Open sessions follow at once. The last admin stays one.',
    body: json(updateMemberSchema, { role: 'viewer' }),
    answer: { status: 200, description: 'The person as it is now', content: member },
    errors: changeErrors,
  },
  'DELETE /headrace/members/:id': {
    ...people,
    id: 'removeMember',
    summary: 'Remove somebody',
    description: 'Sessions and links of the person end; accepted batches go on. The last admin stays.',
    answer: { status: 200, description: 'The person is gone', content: json(deleted, { deleted: true }) },
    errors: [401, 403, 404, 409, 429, 500],
  },
}

/** The operations on the own session. */
const ownSessionDescription: Readonly<Record<string, Described>> = {
  'POST /headrace/session': {
    ...sessions,
    access: 'public',
    id: 'signIn',
    summary: 'Sign in',
    description:
      'With the token of a link, with email and password, or with a management key. Like every call with a session it needs the header `X-Headrace-Console` and must come from a page of the gateway itself.',
    body: json(signInSchema, { link: 'hr-link-…' }),
    answer: {
      status: 201,
      description: 'The session, whose cookie is set',
      headers: cookie,
      content: session,
    },
    errors: [400, 401, 403, 413, 429, 500],
  },
  'GET /headrace/session': {
    ...sessions,
    id: 'getSession',
    summary: 'Who is signed in, and what the role allows',
    answer: { status: 200, description: 'The session', content: session },
    errors: [401, 403, 429, 500],
  },
  'PATCH /headrace/session': {
    ...sessions,
    id: 'updateSession',
    summary: 'Change the own name and email',
    body: json(updatePersonSchema, { email: 'ann@example.com' }),
    answer: { status: 200, description: 'The session as it is now', content: session },
    errors: [400, 401, 403, 409, 413, 429, 500],
  },
  'DELETE /headrace/session': {
    ...sessions,
    id: 'signOut',
    summary: 'Sign out',
    answer: {
      status: 200,
      description: 'The session has ended',
      headers: cookie,
      content: json(deleted, { deleted: true }),
    },
    errors: [401, 403, 404, 429, 500],
  },
  'POST /headrace/session/password': {
    ...sessions,
    id: 'setPassword',
    summary: 'Set the own password',
    description: 'All other sessions of the person end.',
    body: json(passwordSchema, { password: 'a phrase of some length', email: 'ann@example.com' }),
    answer: { status: 200, description: 'The session as it is now', content: session },
    errors: [400, 401, 403, 409, 413, 429, 500],
  },
}

/** The operations on the sessions that are open. */
const sessionListDescription: Readonly<Record<string, Described>> = {
  'GET /headrace/sessions': {
    ...people,
    id: 'listSessions',
    summary: 'List open sessions',
    description: 'The own ones, the latest used first; of everybody for a management key.',
    query: sessionListQuerySchema,
    answer: {
      status: 200,
      description: 'The sessions',
      content: json(z.object({ data: z.array(listedSessionSchema) }), { data: [listedExample] }),
    },
    errors: readErrors,
  },
  'DELETE /headrace/sessions': {
    ...people,
    id: 'endSessions',
    summary: 'Sign a person out everywhere',
    query: endSessionsQuerySchema,
    answer: {
      status: 200,
      description: 'How many sessions ended',
      headers: cookie,
      content: json(deleted.extend({ count: z.int() }), { deleted: true, count: 3 }),
    },
    errors: [400, 401, 403, 404, 429, 500],
  },
  'DELETE /headrace/sessions/:id': {
    ...people,
    id: 'endSession',
    summary: 'End one session',
    description: 'An own one; an admin or a management key ends anybody’s.',
    answer: {
      status: 200,
      description: 'The session has ended',
      headers: cookie,
      content: json(deleted, { deleted: true }),
    },
    errors: [401, 403, 404, 429, 500],
  },
}

/** The operations on people and their sessions. */
export const peopleDescription: Readonly<Record<string, Described>> = {
  ...memberDescription,
  ...ownSessionDescription,
  ...sessionListDescription,
}
