import type { ImportedDeployment } from './litellm-deployments.ts'
import type { Remarks } from './remarks.ts'
import type { YamlValue } from './yaml-tree.ts'

/** One step of a chain, with its place in the file. */
export interface Fallback {
  target: string
  value: YamlValue
}

interface Settings {
  router: YamlValue | null
  litellm: YamlValue | null
}

/** The fallback chains of the file. */
export interface Fallbacks {
  /** The models that a model name falls back to after any error: its own chain, else the general one. */
  of(name: string): readonly Fallback[]
  /** The same when the context of the model is too small. */
  ofContext(name: string): readonly Fallback[]
  /** The place of a name's chain in the file; null when it has none. */
  valueOf(name: string): YamlValue | null
  /** Adds a remark about a value, once for each message. */
  remarkOnce(value: YamlValue, message: string): void
  /** Adds a remark about a deployment that gets no calls. */
  remarkWeightless(deployment: ImportedDeployment): void
}

/** Reads the chains of both sections; those of the router win. */
export function readFallbacks({ router, litellm }: Settings, remarks: Remarks): Fallbacks {
  const sections = [router, litellm].flatMap((section) => section ?? [])
  const chains = chainsOf(sections, 'fallbacks', remarks)
  const contexts = chainsOf(sections, 'context_window_fallbacks', remarks)
  const defaults = sections.flatMap((section) =>
    (section.member('default_fallbacks')?.items() ?? []).flatMap((value) => toFallback(value, remarks)),
  )
  const told = new Set<string>()
  const tell = (key: string, report: () => void) => {
    if (!told.has(key)) report()
    told.add(key)
  }
  const general = chains.get('*') ?? defaults
  return {
    of: (name) => chains.get(name) ?? general.filter(({ target }) => target !== name),
    ofContext: (name) => contexts.get(name) ?? [],
    valueOf: (name) => (chains.get(name) ?? general)[0]?.value ?? null,
    remarkOnce: (value, message) => tell(`${value.path} ${message}`, () => remarks.about(value, message)),
    remarkWeightless: (deployment) =>
      tell(deployment.entry.path, () =>
        remarks.about(
          deployment.entry,
          'has no share of the calls of its group, so it is left out of the name',
        ),
      ),
  }
}

function chainsOf(
  sections: readonly YamlValue[],
  member: string,
  remarks: Remarks,
): Map<string, readonly Fallback[]> {
  const found = new Map<string, readonly Fallback[]>()
  for (const entry of sections.flatMap((section) => section.member(member)?.items() ?? []))
    for (const [name, list] of entry.members()) {
      const chain = list.items().flatMap((value) => toFallback(value, remarks))
      if (!found.has(name)) found.set(name, chain)
      else remarks.about(list, `"${name}" has another chain already, which counts`)
    }
  return found
}

function toFallback(value: YamlValue, remarks: Remarks): Fallback[] {
  const target = value.text()
  if (target !== null) return [{ target, value }]
  value.readAll()
  remarks.about(value, 'parameters of a fallback are not carried; name the model alone')
  return []
}
