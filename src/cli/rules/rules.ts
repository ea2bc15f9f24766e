import { rateMax } from '../../access/rate-rules.ts'
import type { RuleChanges } from '../../access/stored-rules.ts'
import type { Policy, Rates } from '../../canonical/principal.ts'
import { policyListMax } from '../../core/limits/access.ts'
import { modelIdLengthMax } from '../../core/limits/http.ts'
import { presets } from '../../providers/registry.ts'
import type { CommandContext } from '../context.ts'
import { usageFailure } from '../failure.ts'

/** The changes that a rule's value on the command line makes. Throws a usage failure for an invalid value. */
type Reader = (value: string, rule: Rule) => RuleChanges

interface Rule {
  name: string
  /** The command to name in failures. */
  command: string
}

const readers = {
  'requests-per-minute': (value, rule) => ({
    rates: { requestsPerMinute: rateOf(value, rule, 'requests_per_minute') },
  }),
  'batches-per-minute': (value, rule) => ({
    rates: { batchesPerMinute: rateOf(value, rule, 'batches_per_minute') },
  }),
  'tokens-per-minute': (value, rule) => ({
    rates: { tokensPerMinute: rateOf(value, rule, 'tokens_per_minute') },
  }),
  'allowed-providers': (value, rule) => ({ policy: { allowedProviders: allowedOf(value, rule) } }),
  'ignored-providers': (value, rule) => ({ policy: { ignoredProviders: ignoredOf(value, rule) } }),
  'allowed-models': (value, rule) => ({ policy: { allowedModels: allowedOf(value, rule) } }),
  'ignored-models': (value, rule) => ({ policy: { ignoredModels: ignoredOf(value, rule) } }),
  'require-zdr': (value, rule) => ({ policy: { requireZdr: switchOf(value, rule.name, rule.command) } }),
  'deny-data-collection': (value, rule) => ({
    policy: { denyDataCollection: switchOf(value, rule.name, rule.command) },
  }),
} satisfies Readonly<Record<string, Reader>>

/** A rule that organizations and keys share, by its name on the command line. */
export type RuleName = keyof typeof readers

/** All rules, in the order in which they are shown. */
export const ruleNames: readonly RuleName[] = Object.keys(readers) as RuleName[]

/** Whether a word is the name of a rule. */
export function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(readers, name)
}

/** The changes of the given values; rules without a value stay. Throws a usage failure, which names the rule. */
export function readRules(
  valueOf: (name: RuleName) => string | undefined,
  command: 'org' | 'keys',
): RuleChanges {
  const policy: Partial<Policy> = {}
  const rates: Partial<Rates> = {}
  for (const name of ruleNames) {
    const value = valueOf(name)
    if (value === undefined) continue
    const changes: RuleChanges = readers[name](value, { name, command })
    Object.assign(policy, changes.policy)
    Object.assign(rates, changes.rates)
  }
  return {
    ...(Object.keys(policy).length > 0 ? { policy } : {}),
    ...(Object.keys(rates).length > 0 ? { rates } : {}),
  }
}

/** A rule as users type it; the value is null when it forbids nothing. */
export type ShownRule = readonly [name: RuleName, value: string | null]

/** The rules as users would type them. */
export function showRules({ policy, rates }: { policy: Policy; rates: Rates }): readonly ShownRule[] {
  return [
    ['requests-per-minute', numberOf(rates.requestsPerMinute)],
    ['batches-per-minute', numberOf(rates.batchesPerMinute)],
    ['tokens-per-minute', numberOf(rates.tokensPerMinute)],
    ['allowed-providers', policy.allowedProviders?.join(',') ?? null],
    ['ignored-providers', policy.ignoredProviders.join(',') || null],
    ['allowed-models', policy.allowedModels?.join(',') ?? null],
    ['ignored-models', policy.ignoredModels.join(',') || null],
    ['require-zdr', policy.requireZdr ? 'on' : null],
    ['deny-data-collection', policy.denyDataCollection ? 'on' : null],
  ]
}

/** The value of a rule that forbids nothing. */
export function openValueOf(name: RuleName): string {
  if (name === 'allowed-providers' || name === 'allowed-models') return 'all'
  return name === 'require-zdr' || name === 'deny-data-collection' ? 'off' : 'none'
}

/** Warns on stderr about words of a rule that are unknown or mean something else. */
export function warnOfUnknownWords(changes: RuleChanges, context: CommandContext): void {
  warnOfUnknownProviders(changes, context)
  warnOfUnknownModels(changes, context)
}

/** A misspelt word in an allow-list refuses every call. */
function warnOfUnknownProviders({ policy }: RuleChanges, context: CommandContext): void {
  const known = new Set(presets.flatMap(({ slug, name }) => [slug, name.toLowerCase()]))
  for (const { id } of context.readConfig().providers) if (id !== undefined) known.add(id)
  for (const name of [...(policy?.allowedProviders ?? []), ...(policy?.ignoredProviders ?? [])]) {
    const [slug = ''] = name.toLowerCase().split('/')
    if (!known.has(slug) && !known.has(name)) context.writeError(`"${name}" is no provider known here.\n`)
  }
}

/** A misspelt word in a deny-list forbids nothing, but looks as if it did. */
function warnOfUnknownModels({ policy }: RuleChanges, context: CommandContext): void {
  const { names, aliases, providers } = context.readConfig()
  const own = providers.flatMap(({ models = [] }) => models.map(({ id }) => id))
  const known = new Set([...Object.keys(names), ...own].map((name) => name.toLowerCase()))
  for (const model of new Set([...(policy?.allowedModels ?? []), ...(policy?.ignoredModels ?? [])])) {
    if (known.has(model.toLowerCase())) continue
    if (Object.hasOwn(aliases, model))
      context.writeError(
        `"${model}" is an alias, and rules are about what it means: ${aliases[model] ?? ''}.\n`,
      )
    else if (!model.includes('/'))
      context.writeError(
        `"${model}" is no id of a model, such as openai/gpt-4o, and no name of the configuration: the rule is about nothing.\n`,
      )
  }
}

/** `on` or `off`. Throws a usage failure that names the setting. */
export function switchOf(value: string, name: string, command: string): boolean {
  if (value === 'on' || value === 'off') return value === 'on'
  throw usageFailure(`${name} is on or off, not "${value}".`, command)
}

function numberOf(rate: number | null): string | null {
  return rate === null ? null : String(rate)
}

function rateOf(value: string, { name, command }: Rule, member: keyof typeof rateMax): number | null {
  if (value === 'none') return null
  const most = rateMax[member]
  if (/^[1-9]\d{0,9}$/.test(value) && Number(value) <= most) return Number(value)
  throw usageFailure(`${name} is a whole number from 1 to ${most}, or none, not "${value}".`, command)
}

function allowedOf(value: string, rule: Rule): readonly string[] | null {
  return value === 'all' ? null : namesOf(value, { ...rule, open: 'all' })
}

function ignoredOf(value: string, rule: Rule): readonly string[] {
  return value === 'none' ? [] : namesOf(value, { ...rule, open: 'none' })
}

function namesOf(value: string, { name, command, open }: Rule & { open: string }): readonly string[] {
  const names = [...new Set(value.split(',').map((part) => part.trim()))]
  const isFine = names.every((part) => /^[^\s\p{Cc}]+$/u.test(part) && part.length <= modelIdLengthMax)
  // `all` or `none` inside a list is a mistake; as a name it would exclude every caller, or none.
  const isSlip = names.includes('all') || names.includes('none')
  if (isFine && !isSlip && names.length <= policyListMax) return names
  throw usageFailure(`${name} is ${open}, or names with commas between them and no spaces.`, command)
}
