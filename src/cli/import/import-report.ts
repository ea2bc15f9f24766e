import { describeMember } from '../../catalog/operator-names.ts'
import { counted } from '../amounts.ts'
import { printable } from '../paint.ts'
import type { ConfigAddition, MergedConfig } from './config-merge.ts'

/** The results of importing keys. */
export interface KeyCounts {
  added: number
  /** Keys that exist already and are kept unchanged. */
  known: number
  /** Keys that were imported before, and have another secret now or were deleted. */
  former: number
  /** Among the added keys. */
  disabled: number
  expired: number
  /** Rows that are not keys of clients, or cannot be imported. */
  refused: number
  /** Keys whose names begin with that of their team. */
  ofTeams: number
}

/** A provider that will run, and the variable that switches it on; null when it is in the file. */
export interface RunningProvider {
  id: string
  variable: string | null
}

/** Every provider of a gateway that starts in this environment, from the file or from a variable. */
export function describeRunning(providers: readonly RunningProvider[]): string {
  const shown = providers.map(({ id, variable }) =>
    variable === null ? id : `${id} (not in the file: by the variable ${variable})`,
  )
  return `Providers that will run: ${shown.length === 0 ? 'none' : shown.map(printable).join(', ')}\n`
}

interface Carried {
  target: string
  merged: MergedConfig
  addition: ConfigAddition
  secrets: ReadonlyMap<string, string>
  isDry: boolean
  replaces: boolean
  /** Entries and secrets that exist otherwise. */
  conflicts: readonly string[]
}

/** The providers, names and aliases of a file, present or merged; never a secret. */
export function describeAddition(carried: Carried): string {
  const { target, merged, addition, secrets, isDry, replaces, conflicts } = carried
  const { providers, names, aliases } = addition
  const counts = [
    counted(providers.length, 'provider'),
    counted(Object.keys(names).length, 'name'),
    counted(Object.keys(aliases).length, 'alias', 'aliases'),
  ]
  const lines = [`${verbOf(merged, isDry)} ${target}: ${counts.join(', ')}`]
  if (conflicts.length > 0)
    lines.push(
      replaces
        ? `  replaced by what is imported (--replace): ${conflicts.join(', ')}`
        : `  kept as it is in the file, not as imported: ${conflicts.join(', ')} (--replace puts what is imported in its place)`,
    )
  for (const { id, preset, base_url: url, api_key: key, models, only_models: isClosed } of providers) {
    const address = url === undefined ? '' : ` at ${url}`
    const offered = isClosed ? counted(models.length, 'model') : 'all its models'
    lines.push(`  provider ${id} (${preset})${address}, key ${key ?? 'of its variable, if any'}, ${offered}`)
  }
  for (const [name, { groups }] of Object.entries(names)) {
    const shown = groups.map((group) =>
      group
        .map(
          (member) => `${describeMember(member)}${member.weight === undefined ? '' : ` ×${member.weight}`}`,
        )
        .join(', '),
    )
    lines.push(`  name ${name}: ${shown.join(' → ')}`)
  }
  for (const [alias, meant] of Object.entries(aliases)) lines.push(`  alias ${alias} → ${meant}`)
  for (const variable of addition.ignoredVariables)
    lines.push(`  variable ${variable} switches no provider on (ignored_variables)`)
  for (const file of secrets.keys()) lines.push(`  secret in ${file}, readable by its owner alone`)
  return `${lines.map(printable).join('\n')}\n`
}

function verbOf({ isNew, isChanged }: MergedConfig, isDry: boolean): string {
  if (!isChanged) return 'Nothing to change in'
  if (isNew) return isDry ? 'Would write' : 'Wrote'
  return isDry ? 'Would add to' : 'Added to'
}

/** One line about the keys, and one about those of teams. */
export function describeKeys(
  { added, known, former, disabled, expired, refused, ofTeams }: KeyCounts,
  isDry: boolean,
): string {
  const details = [
    disabled > 0 ? `${disabled} of them disabled` : '',
    expired > 0 ? `${expired} of them expired` : '',
    known > 0 ? `${known} here already and left as they are` : '',
    former > 0
      ? `${former} imported before, which have another secret now or were deleted, and are not added again`
      : '',
    refused > 0 ? `${refused} left out` : '',
  ].filter((part) => part !== '')
  const teams =
    ofTeams > 0
      ? `Teams: a key of a team has its name before its own (team/key, ${ofTeams}), by which "npx headrace usage --by key" can be summed\n`
      : ''
  return `${isDry ? 'Would add' : 'Added'} ${counted(added, 'key')}${details.map((part) => `, ${part}`).join('')}\n${teams}`
}
