import type { NameMember, OperatorName, OperatorNames } from '../../catalog/operator-names.ts'
import { isModelName } from '../../core/model-name.ts'
import { nameGroupsMax, nameMembersMax, weightMax } from '../../core/limits/catalog.ts'
import { readFallbacks, type Fallbacks } from './litellm-fallbacks.ts'
import type { ImportedDeployment } from './litellm-deployments.ts'
import { dropParamsReason, type Remarks } from './remarks.ts'
import type { YamlValue } from './yaml-tree.ts'

type Group = readonly NameMember[]

/** Reads groups, fallback chains and aliases into names of this gateway. */
export function readNames(
  file: YamlValue,
  deployments: readonly ImportedDeployment[],
  remarks: Remarks,
): OperatorNames {
  const settings = { router: file.member('router_settings'), litellm: file.member('litellm_settings') }
  readStrategy(settings.router, remarks)
  const dropParams = settings.litellm?.member('drop_params')
  if (dropParams) remarks.about(dropParams, dropParamsReason)
  const names = new Map<string, ImportedDeployment[]>()
  for (const deployment of deployments)
    if (!deployment.isPattern) names.set(deployment.name, [...(names.get(deployment.name) ?? []), deployment])
  const hasPatterns = deployments.some(({ isPattern }) => isPattern)
  const aliases = readAliases(settings.router, { names, hasPatterns }, remarks)
  const fallbacks = readFallbacks(settings, remarks)
  const own = new Map<string, ImportedDeployment[]>(names)
  for (const deployment of deployments) if (deployment.ownId !== null) own.set(deployment.ownId, [deployment])
  const context = { own, aliases, fallbacks, remarks }
  const entries = [...names.keys()].flatMap((name): [string, OperatorName][] => {
    const groups = groupsOf(name, context)
    return groups.length === 0 ? [] : [[name, { groups }]]
  })
  return { names: Object.fromEntries(entries), aliases }
}

function readStrategy(router: YamlValue | null, remarks: Remarks): void {
  const strategy = router?.member('routing_strategy')
  if (!strategy || strategy.text() === 'simple-shuffle') return
  remarks.about(
    strategy,
    'calls are shared by weights here; a caller may sort otherwise, by name:nitro, name:floor or "provider": {"sort": …}',
  )
}

function readAliases(
  router: YamlValue | null,
  { names, hasPatterns }: { names: ReadonlyMap<string, unknown>; hasPatterns: boolean },
  remarks: Remarks,
): Record<string, string> {
  const found: Record<string, string> = {}
  const written = router?.member('model_group_alias')?.members() ?? []
  const aliased = new Set(written.map(([alias]) => alias))
  for (const [alias, value] of written) {
    const target = (value.isMapping() ? value.member('model') : value)?.text()
    if (value.isMapping()) value.member('hidden')
    if (target == null || names.has(alias)) {
      remarks.about(
        value,
        target == null ? 'says no model' : `is not carried: "${alias}" is a model_name too`,
      )
    } else if (!isModelName(alias) || !isModelName(target)) {
      remarks.about(value, 'is not carried: an alias, or what it means, is none that callers can write here')
    } else found[alias] = target
    // A pattern may serve a model that the file does not name.
    const isKnown = target == null || hasPatterns || names.has(target) || aliased.has(target)
    if (!isKnown) remarks.about(value, `means "${target}", which is no model_name that is carried`)
  }
  return withoutCycles(found, router, remarks)
}

function withoutCycles(
  aliases: Record<string, string>,
  router: YamlValue | null,
  remarks: Remarks,
): Record<string, string> {
  const isCyclic = (alias: string) => {
    const seen = new Set([alias])
    for (let next = aliases[alias]; next !== undefined; next = aliases[next]) {
      if (seen.has(next)) return true
      seen.add(next)
    }
    return false
  }
  const cyclic = Object.keys(aliases).filter(isCyclic)
  const value = router?.member('model_group_alias')
  if (value)
    for (const alias of cyclic)
      remarks.about(value, `the alias "${alias}" leads back to itself and is not carried`)
  return Object.fromEntries(Object.entries(aliases).filter(([alias]) => !cyclic.includes(alias)))
}

interface Context {
  /** Deployments by model name and by their own ids. */
  own: ReadonlyMap<string, readonly ImportedDeployment[]>
  aliases: Readonly<Record<string, string>>
  fallbacks: Fallbacks
  remarks: Remarks
}

/** The groups of a model name, then those of its fallbacks, then those of theirs; each endpoint once. */
function groupsOf(name: string, context: Context): readonly Group[] {
  const { fallbacks, remarks } = context
  const chain: string[] = []
  follow(name, chain, context)
  for (const { target, value } of fallbacks.ofContext(name)) {
    const found = targetOf(target, context)
    if (found === null || chain.includes(found)) continue
    follow(found, chain, context)
    remarks.about(
      value,
      `"${name}" goes on to "${target}" after any failure here, not only when the context is too small`,
    )
  }
  const seen = new Set<string>()
  const groups = chain
    .flatMap((one) => tiersOf(context.own.get(one) ?? [], context))
    .flatMap((group) => {
      const fresh = group.filter(({ model, provider }) => !seen.has(`${provider} ${model}`))
      for (const { model, provider } of fresh) seen.add(`${provider} ${model}`)
      return fresh.length === 0 ? [] : [fresh]
    })
  const value = fallbacks.valueOf(name)
  if (groups.length > nameGroupsMax && value)
    remarks.about(
      value,
      `only the first ${nameGroupsMax} of the ${groups.length} groups of "${name}" are carried: a call has as many attempts`,
    )
  return groups.slice(0, nameGroupsMax)
}

/** Collects the names that a call goes through: a fallback's own fallbacks come before the next one, as in LiteLLM. */
function follow(name: string, chain: string[], context: Context): void {
  if (chain.includes(name)) return
  chain.push(name)
  for (const { target, value } of context.fallbacks.of(name)) {
    const found = targetOf(target, context)
    if (found !== null) follow(found, chain, context)
    else
      context.fallbacks.remarkOnce(
        value,
        `"${target}" is no model_name and no id of a deployment that is carried`,
      )
  }
}

function targetOf(name: string, { own, aliases }: Context): string | null {
  let target = name
  // Cycles of aliases were removed before.
  while (!own.has(target) && Object.hasOwn(aliases, target)) target = aliases[target] ?? target
  return own.has(target) ? target : null
}

/**
 * Groups by `order`, with the weights that LiteLLM would use: those of the first weight parameter that the first
 * deployment has.
 */
function tiersOf(
  deployments: readonly ImportedDeployment[],
  { fallbacks, remarks }: Context,
): readonly Group[] {
  const orders = [...new Set(deployments.map(({ order }) => order))].toSorted((left, right) => left - right)
  return orders.flatMap((order) => {
    const tier = deployments.filter((one) => one.order === order)
    const by = (['weight', 'rpm', 'tpm'] as const).find((one) => tier[0]?.[one] != null)
    const members = tier.flatMap((one): NameMember[] => {
      const { model, provider } = one
      if (by === undefined) return [{ model, provider }]
      const weight = one[by] ?? 0
      if (weight > 0) return [{ model, provider, weight }]
      fallbacks.remarkWeightless(one)
      return []
    })
    if (members.length === 0) return []
    const group = joined(members)
    if (group.length > nameMembersMax && tier[0])
      remarks.about(
        tier[0].entry,
        `only the first ${nameMembersMax} of the ${group.length} deployments of "${tier[0].name}" are carried`,
      )
    return [bounded(group.slice(0, nameMembersMax))]
  })
}

/** Weights are shares; a limit of tokens per minute may exceed the largest weight here. */
function bounded(group: Group): Group {
  const most = Math.max(...group.map(({ weight = 1 }) => weight))
  if (most <= weightMax) return group
  return group.map(({ weight = 1, ...member }) => ({ ...member, weight: (weight / most) * weightMax }))
}

/** The same model at the same provider twice becomes one member with the sum of the weights. */
function joined(members: readonly NameMember[]): Group {
  const found = new Map<string, NameMember>()
  for (const member of members) {
    const known = found.get(`${member.provider} ${member.model}`)
    const weight = (known?.weight ?? 1) + (member.weight ?? 1)
    found.set(`${member.provider} ${member.model}`, known ? { ...member, weight } : member)
  }
  return [...found.values()]
}
