import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

/** The folder that holds package.json. */
export const rootFolder = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** A broken rule: the problem and its place, the reason for the rule, and the remedy. */
export interface Finding {
  /** A short, stable name; exceptions refer to it. */
  rule: string
  /** Relative to the repository, with forward slashes. */
  file: string
  /** Counted from 1. */
  line: number
  problem: string
  remedy: string
}

/** A node of the syntax tree; members beyond these are read through `childOf` and friends. */
export interface SyntaxNode {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

/** One comment, without its delimiters. */
export interface SourceComment {
  kind: 'line' | 'block'
  text: string
  line: number
  /** The offset just after the comment. */
  end: number
}

/** An import, a re-export or a dynamic import with a literal argument. */
export interface SourceImport {
  specifier: string
  /** The imported file, relative to the repository; null for packages. */
  target: string | null
  line: number
}

/** A parsed TypeScript file. */
export interface Source {
  /** Relative to the repository, with forward slashes. */
  file: string
  text: string
  program: SyntaxNode
  comments: readonly SourceComment[]
  imports: readonly SourceImport[]
  lineCount: number
  lineAt(offset: number): number
}

/** Parses one file; throws on a syntax error, because an unreadable file cannot be checked. */
export function parseSource(file: string, text: string): Source {
  const parsed = parseSync(basename(file), text)
  const error = parsed.errors[0]
  if (error !== undefined) throw new Error(`${file}: ${error.message}`)
  const lineStarts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1)
  const lineAt = (offset: number) => lineStarts.findLastIndex((start) => start <= offset) + 1
  const program = parsed.program as unknown as SyntaxNode
  return {
    file,
    text,
    program,
    comments: parsed.comments.map((comment) => ({
      kind: comment.type === 'Line' ? 'line' : 'block',
      text: comment.value,
      line: lineAt(comment.start),
      end: comment.end,
    })),
    imports: importsOf(file, program, lineAt),
    lineCount: text.endsWith('\n') ? lineStarts.length - 1 : lineStarts.length,
    lineAt,
  }
}

const importingTypes = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
])

function importsOf(file: string, program: SyntaxNode, lineAt: (offset: number) => number): SourceImport[] {
  const imports: SourceImport[] = []
  for (const { node } of walk(program)) {
    if (!importingTypes.has(node.type)) continue
    const specifier = literalOf(node['source'])
    if (specifier === null) continue
    const isRelative = specifier.startsWith('.')
    imports.push({
      specifier,
      target: isRelative ? posix.normalize(posix.join(posix.dirname(file), specifier)) : null,
      line: lineAt(node.start),
    })
  }
  return imports
}

/** The node's string value, if it is a string literal. */
export function literalOf(node: unknown): string | null {
  return isNode(node) && node.type === 'Literal' && typeof node['value'] === 'string' ? node['value'] : null
}

/** The name, if the node is an identifier. */
export function nameOf(node: unknown): string | null {
  return isNode(node) && node.type === 'Identifier' && typeof node['name'] === 'string' ? node['name'] : null
}

/** `a.b` for a member expression of two plain names, else null. */
export function memberOf(node: SyntaxNode): string | null {
  if (node.type !== 'MemberExpression' || node['computed'] === true) return null
  const object = nameOf(node['object'])
  const property = nameOf(node['property'])
  return object === null || property === null ? null : `${object}.${property}`
}

/** Whether a value found in the tree is itself a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

/** A node and its parent. */
export interface Visit {
  node: SyntaxNode
  parent: SyntaxNode | null
}

/** Every node below and including `root`, parents first. */
export function walk(root: SyntaxNode): Visit[] {
  const visits: Visit[] = [{ node: root, parent: null }]
  for (let at = 0; at < visits.length; at += 1) {
    const node = visits[at]?.node
    if (node === undefined) break
    for (const child of childrenOf(node)) visits.push({ node: child, parent: node })
  }
  return visits
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isNode)
}

/** Unit tests and shared cases: they may reach across layers and be long. */
export function isTest(file: string): boolean {
  return /(\.(test|case)|\/testing)\.ts$/.test(file) || file.startsWith('test/')
}

const skippedFolders = new Set(['node_modules', 'dist', 'fixtures', '.git', 'data'])

/** Every file below `folder` whose name ends in `extension`, relative to the repository, sorted. */
export function listFiles(folder: string, extension: string): string[] {
  const found: string[] = []
  const entries = readdirSync(join(rootFolder, folder), { withFileTypes: true })
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) {
      if (!skippedFolders.has(entry.name)) found.push(...listFiles(path, extension))
    } else if (entry.name.endsWith(extension)) {
      found.push(path)
    }
  }
  return found.toSorted()
}

/** Reads a file of the repository. */
export function readText(file: string): string {
  return readFileSync(join(rootFolder, file), 'utf8')
}
