import { z } from 'zod'
import { hasMember, type JsonDocument } from '../json/document.ts'
import { fieldError } from '../core/errors.ts'

/** Members of the contract, in every format, that only the contract's own service acts on. */
export const unservedShape = {
  plugins: z
    .array(z.looseObject({ id: z.string(), enabled: z.boolean().nullish() }))
    .nullish()
    .describe(
      'Not served: an empty list passes, and so does `context-compression`, which then does nothing.',
    ),
  preset: z.string().nullish().describe('Not served: send what the preset says as members of the request.'),
  stop_server_tools_when: z
    .array(z.looseObject({}))
    .nullish()
    .describe('Not served, because the gateway runs no tools of its own: an empty list passes.'),
}

/** These members, parsed by their schema. */
export type UnservedFields = Partial<z.output<z.ZodObject<typeof unservedShape>>>

/** Without this plugin a request that is too long for its model fails, so no caller mistakes it for a shortened one. */
const harmlessPlugins: ReadonlySet<string> = new Set(['context-compression'])

/**
 * Names of members that are accepted without effect. Throws `invalid_request` for a member whose absence would change
 * the meaning of the answer.
 */
export function readUnserved(document: JsonDocument, fields: UnservedFields): string[] {
  const { plugins, preset, stop_server_tools_when: stops } = fields
  const dropped = hasMember(document, 'route') ? ['route'] : []
  if (preset) {
    throw fieldError(
      'preset',
      'is not served: no presets are kept here. Leave it out and send its members in the request.',
    )
  }
  if (stops?.[0] !== undefined) {
    throw fieldError(
      'stop_server_tools_when',
      'is not served: the gateway runs no tools of its own. Leave it out.',
    )
  }
  for (const [index, { id, enabled }] of plugins?.entries() ?? []) {
    if (enabled === false) continue
    if (!harmlessPlugins.has(id)) {
      throw fieldError(
        `plugins[${index}].id`,
        `is ${JSON.stringify(id.slice(0, 64))}, which is not served. Leave the plugin out.`,
      )
    }
    if (!dropped.includes('plugins')) dropped.push('plugins')
  }
  return dropped
}
