import { z } from 'zod'
import { nameGroupsMax, nameMembersMax, weightMax } from './core/limits/catalog.ts'
import { modelIdLengthMax } from './core/limits/http.ts'
import { modelNamePattern } from './core/model-name.ts'

/** The operator's names of models, and their aliases. */
const namesMax = 1_000

/** What a caller may write as the model. */
const modelName = z
  .string()
  .min(1)
  .max(modelIdLengthMax)
  .regex(modelNamePattern, { error: 'must be a name without control characters' })

const memberSchema = z.strictObject({
  model: modelName.describe('Id of a model, not of another name'),
  provider: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Only the deployment of this `id`, or else the provider of this slug; by default all that have the model',
    ),
  region: z.string().min(1).optional().describe('Only deployments of this region'),
  weight: z
    .number()
    .positive()
    .max(weightMax)
    .optional()
    .describe('Share of the calls of its group. Default 1.'),
})

const nameSchema = z.strictObject({
  description: z.string().min(1).optional().describe('Shown in the list of models'),
  groups: z
    .array(z.array(memberSchema).min(1).max(nameMembersMax))
    .min(1)
    .max(nameGroupsMax)
    .describe('Asked one after the other, the next when what was asked has failed'),
})

/** A record with a bounded number of entries. */
const few = (record: Readonly<Record<string, unknown>>): boolean => Object.keys(record).length <= namesMax

/** The members of the configuration file that give models names of the operator's own. */
export const namesShape = {
  names: z
    .record(modelName, nameSchema)
    .refine(few, { error: `must have ${namesMax} names at most` })
    .default({})
    .describe('Model ids of your own: groups of endpoints with weights'),
  aliases: z
    .record(modelName, modelName)
    .refine(few, { error: `must have ${namesMax} aliases at most` })
    .default({})
    .describe(
      'What other names mean, such as `{"gpt-4o": "openai/gpt-4o"}`: a model, a name or another alias',
    ),
}

/** A name of the operator's own as it is written in the file. */
export interface NameConfig {
  readonly description?: string | undefined
  readonly groups: readonly (readonly Readonly<z.output<typeof memberSchema>>[])[]
}

/** Names as they are configured. */
interface Named {
  names: Readonly<Record<string, NameConfig>>
  aliases: Readonly<Record<string, string>>
}

/** Conflicts between names and aliases, a line each. */
export function checkNames({ names, aliases }: Named): string[] {
  return Object.keys(aliases).flatMap((alias) => {
    if (Object.hasOwn(names, alias))
      return [`aliases.${alias}: is a name too; call one of the two otherwise, or remove it`]
    const path = cycleFrom(alias, aliases)
    return path === null
      ? []
      : [
          `aliases.${alias}: leads back to itself (${path.join(' → ')}); let one of them mean a model or a name`,
        ]
  })
}

/** The way from an alias back to itself; null when it leads to anything else. */
function cycleFrom(alias: string, aliases: Named['aliases']): string[] | null {
  const path = [alias]
  const seen = new Set<string>()
  for (let next = aliases[alias]; next !== undefined && !seen.has(next); next = aliases[next]) {
    path.push(next)
    if (next === alias) return path
    seen.add(next)
    if (!Object.hasOwn(aliases, next)) return null
  }
  return null
}
