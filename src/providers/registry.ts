import type { ModelRule } from '../catalog/capabilities.ts'
import type { Preset } from './define-provider.ts'
import * as providers from './index.ts'
import { openModels } from './open-models.ts'

/** Hosted ones before servers of one's own, and those whose address the operator must name at the end. */
function rankOf({ baseUrl, isLocal }: Preset): number {
  if (baseUrl === null) return 2
  return isLocal ? 1 : 0
}

/** Every provider there is, in the order in which documents list them and the environment is looked through. */
export const presets: readonly Preset[] = Object.values<Preset>(providers).toSorted(
  (left, right) => rankOf(left) - rankOf(right) || (left.slug < right.slug ? -1 : 1),
)

const bySlug = new Map(presets.map((preset) => [preset.slug, preset]))

/** The preset of that slug, or null. */
export function findPreset(slug: string): Preset | null {
  return bySlug.get(slug) ?? null
}

const families = [...presets.flatMap(({ family }) => family), ...openModels]

/** What names tell of a provider's models; the first rule that says something counts, general ones follow. */
export function modelRulesOf({ family, modelRules, hostsManyMakers }: Preset): readonly ModelRule[] {
  return [...modelRules, ...(hostsManyMakers ? families : family)]
}
