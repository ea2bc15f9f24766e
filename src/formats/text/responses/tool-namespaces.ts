/** Characters of a tool's name, OpenAI's limit and the least known. */
const toolNameLengthMax = 64
import { isRecord } from '../../../json/values.ts'

/** Where a tool stands among the caller's tools: its own name, and the namespace around it. */
export interface NamespacedName {
  namespace: string
  name: string
}

/**
 * The one name of a tool for a provider whose format has no namespaces: the same for the same tool, so that a call in the
 * history and the tool still belong together, without anything being kept.
 */
export function flatToolName({ namespace, name }: NamespacedName): string {
  const joined = `${namespace}__${name}`
  if (joined.length <= toolNameLengthMax) return joined
  const hash = Bun.hash.xxHash32(joined).toString(36)
  return `${name.slice(0, toolNameLengthMax - hash.length - 1)}_${hash}`
}

/** The caller's names of the tools in its namespaces, by the names that a provider is told. */
export function readNamespacedNames(tools: unknown): ReadonlyMap<string, NamespacedName> {
  const names = new Map<string, NamespacedName>()
  if (!Array.isArray(tools)) return names
  for (const group of tools.filter(isNamespace)) {
    for (const { name } of toolsOf(group)) {
      if (typeof name !== 'string') continue
      const namespaced = { namespace: group.name, name }
      names.set(flatToolName(namespaced), namespaced)
    }
  }
  return names
}

type Wire = Readonly<Record<string, unknown>>

/** Whether the tool is a namespace: tools of the caller's own under a common name. */
export function isNamespace(wire: unknown): wire is Wire & { name: string } {
  return isRecord(wire) && wire['type'] === 'namespace' && typeof wire['name'] === 'string'
}

/** The tools of a namespace as they stand on the wire. */
export function toolsOf(namespace: Wire): readonly Wire[] {
  const { tools } = namespace
  return Array.isArray(tools) ? tools.filter(isRecord) : []
}
