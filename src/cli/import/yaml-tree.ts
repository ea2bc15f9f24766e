import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { CommandFailure } from '../failure.ts'

/** The common data of all values of one file. */
interface Tree {
  document: Document.Parsed
  lines: LineCounter
  /** The values that were read. */
  read: Set<Node>
}

/** A value of a YAML file with its line and path, which remembers what was read of it. */
export class YamlValue {
  /** Such as `model_list[2].litellm_params.rpm`; empty for the whole file. */
  readonly path: string
  readonly #node: Node
  readonly #tree: Tree
  /** The position of its key, otherwise its own. */
  readonly #offset: number

  constructor(node: Node, path: string, { tree, offset }: { tree: Tree; offset: number }) {
    this.#node = node
    this.path = path
    this.#tree = tree
    this.#offset = offset
  }

  /** Counted from 1. */
  get line(): number {
    return this.#tree.lines.linePos(this.#offset).line
  }

  /** The member of this name; null when it is absent or null, or when this value is not a mapping. Marks it as read. */
  member(name: string): YamlValue | null {
    const found = this.#pairs().find(([key]) => key === name)
    return found ? this.#child(found[1], this.#below(name), found[2]) : null
  }

  /** All members by name, marked as read; empty unless this is a mapping. */
  members(): [string, YamlValue][] {
    return this.#pairs().flatMap(([name, node, offset]): [string, YamlValue][] => {
      const child = this.#child(node, this.#below(name), offset)
      return child ? [[name, child]] : []
    })
  }

  /** The entries of a list, marked as read; empty unless this is a list. */
  items(): YamlValue[] {
    return this.#nodes().flatMap(
      (node, index) => this.#child(node, `${this.path}[${index}]`, offsetOf(node)) ?? [],
    )
  }

  /** The text of a string, number or truth value as written; null for any other value. */
  text(): string | null {
    if (!isScalar(this.#node)) return null
    const { value, source } = this.#node
    if (typeof value === 'string') return value
    return typeof value === 'number' || typeof value === 'boolean' ? (source ?? String(value)) : null
  }

  /** All texts in it, at any depth, without marking them as read. A value repeated by an alias is returned once. */
  *texts(seen = new Set<Node>()): Generator<string> {
    if (seen.has(this.#node)) return
    seen.add(this.#node)
    const own = this.text()
    if (own !== null) yield own
    for (const node of [...this.#pairs().map(([, value]) => value), ...this.#nodes()])
      yield* new YamlValue(node, this.path, { tree: this.#tree, offset: this.#offset }).texts(seen)
  }

  number(): number | null {
    const value = isScalar(this.#node) ? this.#node.value : null
    return typeof value === 'number' && Number.isFinite(value) ? value : null
  }

  isTrue(): boolean {
    return isScalar(this.#node) && this.#node.value === true
  }

  isMapping(): boolean {
    return isMap(this.#node)
  }

  /** Marks all values below as read. */
  readAll(): this {
    for (const child of [...this.members().map(([, value]) => value), ...this.items()]) child.readAll()
    return this
  }

  /**
   * The values that were never read, in the order of the file; of a value that was never read, only the value itself.
   */
  *unread(): Generator<YamlValue> {
    for (const [name, node, offset] of this.#pairs())
      yield* this.#unreadBelow(node, this.#below(name), offset)
    for (const [index, node] of this.#nodes().entries())
      yield* this.#unreadBelow(node, `${this.path}[${index}]`, offsetOf(node))
  }

  *#unreadBelow(node: Node, path: string, offset: number): Generator<YamlValue> {
    const value = new YamlValue(node, path, { tree: this.#tree, offset })
    if (this.#tree.read.has(node)) yield* value.unread()
    else yield value
  }

  #below(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  #child(node: Node, path: string, offset: number): YamlValue | null {
    this.#tree.read.add(node)
    if (isScalar(node) && node.value === null) return null
    return new YamlValue(node, path, { tree: this.#tree, offset })
  }

  #nodes(): Node[] {
    return isSeq(this.#node) ? this.#node.items.map((item) => resolved(item as Node, this.#tree)) : []
  }

  /** The members; a mapping's own come before those of a merged one (`<<`). */
  #pairs(): [name: string, node: Node, offset: number][] {
    return isMap(this.#node) ? pairsOf(this.#node, this.#tree) : []
  }
}

function pairsOf(map: YAMLMap, tree: Tree): [string, Node, number][] {
  const all = (map.items as Pair<Node, Node | null>[]).flatMap(({ key, value }): [string, Node, number][] => {
    if (value === null) return []
    const name = isScalar(key) ? String(key.value) : String(key)
    return [[name, resolved(value, tree), offsetOf(key)]]
  })
  const own = all.filter(([name]) => name !== '<<')
  const names = new Set(own.map(([name]) => name))
  const merged = all.flatMap(([name, node]) => (name === '<<' ? mergedPairs(node, tree) : []))
  return [...own, ...merged.filter(([name]) => !names.has(name))]
}

/** The members of one merged mapping, or of several. */
function mergedPairs(node: Node, tree: Tree): [string, Node, number][] {
  if (isMap(node)) return pairsOf(node, tree)
  return isSeq(node) ? node.items.flatMap((one) => mergedPairs(resolved(one as Node, tree), tree)) : []
}

function resolved(node: Node, { document }: Tree): Node {
  return isAlias(node) ? (node.resolve(document) ?? node) : node
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0
}

/** Reads a YAML file. Throws CommandFailure, with the line, when it is not YAML or not a mapping. */
export function parseYaml(text: string, file: string): YamlValue {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error) {
    const { line } = lines.linePos(error.pos[0])
    throw new CommandFailure(`${file}:${line}: this is not YAML: ${error.message.split('\n')[0]}`)
  }
  visit(document, {
    Alias(_, { source, range }, ancestors) {
      if (!ancestors.some((node) => isNode(node) && !isAlias(node) && node.anchor === source)) return
      throw new CommandFailure(
        `${file}:${lines.linePos(range?.[0] ?? 0).line}: "*${source}" stands within what it means.`,
      )
    },
  })
  if (!isMap(document.contents)) throw new CommandFailure(`${file}: there is no mapping in this file.`)
  const tree = { document, lines, read: new Set<Node>() }
  return new YamlValue(document.contents, '', { tree, offset: 0 })
}
