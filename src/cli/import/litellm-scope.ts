import type { OperatorNames } from '../../catalog/operator-names.ts'
import { isModelName } from '../../core/model-name.ts'
import type { ImportedDeployment } from './litellm-deployments.ts'

/** The meaning of names in a list of models. */
export interface ModelScope {
  /** Null means all models; unknown names are returned separately. */
  read(listed: readonly string[]): { models: readonly string[] | null; unknown: readonly string[] }
}

/** LiteLLM's words for all models. */
const allModels: ReadonlySet<string> = new Set(['all-proxy-models', '*'])
/** LiteLLM's word for no models. */
export const noModels = 'no-default-models'

/** Reads lists of models, using the names and deployments imported from the YAML file. */
export function createScope(
  { names, aliases }: OperatorNames,
  deployments: readonly ImportedDeployment[],
): ModelScope {
  const groups = new Map<string, string[]>()
  for (const { name, isPattern, accessGroups } of deployments)
    if (!isPattern) for (const group of accessGroups) groups.set(group, [...(groups.get(group) ?? []), name])
  const patterns = deployments.filter(({ keepsIds }) => keepsIds).map(({ name }) => name.slice(0, -1))
  const meaningOf = (listed: string): readonly string[] | null => {
    let name = listed
    while (!Object.hasOwn(names, name) && Object.hasOwn(aliases, name)) name = aliases[name] ?? name
    if (Object.hasOwn(names, name)) return [name]
    const isOfPattern =
      isModelName(name) && !name.includes('*') && patterns.some((prefix) => name.startsWith(prefix))
    return groups.get(listed) ?? (isOfPattern ? [name] : null)
  }
  return {
    read(listed) {
      if (listed.length === 0 || listed.some((model) => allModels.has(model)))
        return { models: null, unknown: [] }
      const asked = listed.filter((model) => model !== noModels)
      const found = asked.map((model) => ({ model, meant: meaningOf(model) }))
      return {
        models: [...new Set(found.flatMap(({ meant }) => meant ?? []))],
        unknown: found.flatMap(({ model, meant }) => (meant === null ? [model] : [])),
      }
    },
  }
}
