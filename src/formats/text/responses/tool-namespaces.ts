/** Characters of a tool's name, OpenAI's limit and the least known. */
const toolNameLengthMax = 64
import { isRecord } from '../../../json/values.ts'

/** The full name of a tool: its own name, and its namespace. */
export interface NamespacedName {
  namespace: string
  name: string
}

/**
 * The name of the tool for a provider without namespaces. It is the same every time, so a call in the history still
 * matches its tool although nothing is stored.
 */
export function flatToolName({ namespace, name }: NamespacedName): string {
  const joined = `${namespace}__${name}`
  if (joined.length <= toolNameLengthMax) return joined
  const hash = Bun.hash.xxHash32(joined).toString(36)
  return `${name.slice(0, toolNameLengthMax - hash.length - 1)}_${hash}`
}

/** The caller's names of tools in namespaces, by the names that a provider sees. */
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

/** Whether the tool is a namespace: several of the caller's tools under a common name. */
export function isNamespace(wire: unknown): wire is Wire & { name: string } {
  return isRecord(wire) && wire['type'] === 'namespace' && typeof wire['name'] === 'string'
}

/** The tools of a namespace, as the request has them. */
export function toolsOf(namespace: Wire): readonly Wire[] {
  const { tools } = namespace
  return Array.isArray(tools) ? tools.filter(isRecord) : []
}
