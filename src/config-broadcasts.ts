import { z } from 'zod'
import { headerName, headerValue } from './config-headers.ts'

/** Destinations of one gateway: each costs a row for every generation that it gets. */
const broadcastDestinationsMax = 8

/** Where generations are told, with the defaults filled in. */
export interface BroadcastConfig {
  readonly name: string
  readonly kind: 'webhook' | 'otlp'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly secret: string | null
  readonly organizations: readonly string[] | null
  readonly keys: readonly string[] | null
  readonly sampling: number
  readonly zdrCalls: 'figures' | 'skip'
}

const destinationSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'use lower-case letters, digits, ".", "_" and "-"')
      .describe('Unique; what waits for the destination belongs to this name'),
    kind: z.enum(['webhook', 'otlp']).describe('`webhook`: signed JSON. `otlp`: spans by OTLP/HTTP in JSON'),
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
      .describe('The whole address, of OTLP with `/v1/traces`; it may be private'),
    headers: z
      .record(headerName, headerValue)
      .optional()
      .describe(
        'Sent with every post, such as `{"authorization": "${env:TRACES_KEY}"}`; values are never shown',
      ),
    secret: z
      .string()
      .regex(/^[\x21-\x7e]{16,512}$/, { error: 'must have 16 to 512 printable characters and no spaces' })
      .optional()
      .describe('Signs the posts of a webhook, such as `"${env:BROADCAST_SECRET}"`; needed there'),
    organizations: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Ids of the organizations whose generations it gets; all when left out'),
    keys: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Ids of the API keys whose generations it gets; all when left out'),
    sampling: z
      .number()
      .gt(0)
      .max(1)
      .optional()
      .describe('The part of the generations that it gets: all of a session or none. 1 by default'),
    zdr_calls: z
      .enum(['figures', 'skip'])
      .optional()
      .describe(
        'What it gets of calls under zero data retention: `figures` (the default) without user, session, trace and titles, `skip` nothing',
      ),
  })
  .superRefine(({ kind, secret }, context) => {
    if (kind === 'webhook' && secret === undefined)
      context.addIssue({ code: 'custom', path: ['secret'], message: 'needed for kind "webhook"' })
    if (kind === 'otlp' && secret !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['secret'],
        message: 'signs webhooks only; put what an OTLP receiver wants into "headers"',
      })
  })

/** The member `broadcasts` of the configuration file. */
export const broadcastsSchema = z
  .array(destinationSchema)
  .max(broadcastDestinationsMax)
  .superRefine((destinations, context) => {
    const names = new Set<string>()
    for (const [index, { name }] of destinations.entries()) {
      if (names.has(name))
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${name}" is used twice` })
      names.add(name)
    }
  })
  .describe(
    'Where every generation is told once it is charged: figures, model, cost, and the caller’s `user`, `session_id` and `trace`, never content',
  )

/** The destinations as the gateway takes them. */
export function broadcastsOf(given: z.output<typeof broadcastsSchema> = []): BroadcastConfig[] {
  return given.map(({ name, kind, url, ...rest }) => ({
    name,
    kind,
    url,
    headers: rest.headers ?? {},
    secret: rest.secret ?? null,
    organizations: rest.organizations ?? null,
    keys: rest.keys ?? null,
    sampling: rest.sampling ?? 1,
    zdrCalls: rest.zdr_calls ?? 'figures',
  }))
}
