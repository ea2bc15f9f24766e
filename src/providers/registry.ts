import type { ModelRule } from '../catalog/capabilities.ts'
import type { Preset } from './define-provider.ts'
import * as providers from './index.ts'
import { openModels } from './open-models.ts'

/** Hosted providers first, then servers that operators run, then those whose URL the operator must name. */
function rankOf({ baseUrl, isLocal }: Preset): number {
  if (baseUrl === null) return 2
  return isLocal ? 1 : 0
}

/** All providers, in the order in which documents list them and the environment is searched. */
export const presets: readonly Preset[] = Object.values<Preset>(providers).toSorted(
  (left, right) => rankOf(left) - rankOf(right) || (left.slug < right.slug ? -1 : 1),
)

const bySlug = new Map(presets.map((preset) => [preset.slug, preset]))

/** The preset with this slug, or null. */
export function findPreset(slug: string): Preset | null {
  return bySlug.get(slug) ?? null
}

const families = [...presets.flatMap(({ family }) => family), ...openModels]

/**
 * The rules that read capabilities from the names of a provider's models. The first rule that decides a value wins;
 * general rules come last.
 */
export function modelRulesOf({ family, modelRules, hostsManyMakers }: Preset): readonly ModelRule[] {
  return [...modelRules, ...(hostsManyMakers ? families : family)]
}
