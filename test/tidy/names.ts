import { basename } from 'node:path'
import type { Finding, Source, SyntaxNode } from './sources.ts'
import { isNode, isTest, literalOf, nameOf, walk } from './sources.ts'

/** Rules across the files of `src`: their names, the names of their types, and the tables they write. */
export function checkCommonNames(sources: readonly Source[]): Finding[] {
  const own = sources.filter(({ file }) => file.startsWith('src/') && !isTest(file))
  return [
    ...checkBaseNames(own.map(({ file }) => file)),
    ...checkTypeNames(own),
    ...own.flatMap(checkRepository),
    ...checkWriters(own),
    ...checkBounds(own),
  ]
}

const boundsFolder = 'src/core/limits/'

/** A bound belongs into the shared folder when several files of `src` read it; comments do not read. */
function checkBounds(sources: readonly Source[]): Finding[] {
  const codes = sources.map(({ file, text }) => ({ file, code: text.replaceAll(comments, '') }))
  return sources
    .filter(({ file }) => file.startsWith(boundsFolder))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/^export const (\w+)/gm)].flatMap(({ index, 1: name = '' }) => {
        const word = new RegExp(String.raw`(?<!const )\b${name}\b`)
        const readers = codes.filter(({ code }) => code.includes(name) && word.test(code))
        // Another bound of the file may be computed from it.
        if (readers.length > 1 || readers[0]?.file === file) return []
        return {
          rule: 'bound',
          file,
          line: text.slice(0, index).split('\n').length,
          problem: `${name} is read in ${readers[0]?.file ?? 'no file'} alone`,
          remedy:
            'A bound that one file reads stands in that file; core/limits has those that several files share.',
        }
      }),
    )
}

const comments = /\/\*[^]*?\*\/|(?<=^|\s)\/\/.*/gm

/** Files whose name is a role that sibling folders have too: of a provider, and of a wire format. */
const roleFiles: readonly RegExp[] = [
  /^src\/providers\/[^/]+\/(provider|capabilities|prices|login|public-names|retirements|languages|inspection|quirks|jobs|transcription|transcript|speech|rows\.case|sdk\.case|sdk-program\.case)\.ts$/,
  /^src\/formats\/(text\/)?[^/]+\/((read|write|pass)-(request|answer|stream)|pass-answer-required|read-conversation|read-blocks|(read|write)-turns|usage|errors|media|quirks|text-operation|(request|answer)-schema)\.ts$/,
  /^src\/formats\/text\/request-schema\.ts$/,
]

/** Folders whose files are called after areas of the gateway: the bounds, the handlers and the schemas of each. */
const areaFolders = /^src\/(core\/limits|http\/handlers|http\/schemas)\//

function checkBaseNames(files: readonly string[]): Finding[] {
  const hasRole = (file: string) => areaFolders.test(file) || roleFiles.some((role) => role.test(file))
  return repeated(
    files.filter((file) => !hasRole(file)),
    (file) => basename(file),
  ).map(({ key, first, again }) => ({
    rule: 'base-name',
    file: again,
    line: 1,
    problem: `${first} is called ${key} too`,
    remedy: 'Give one of them a name that says its subject; only roles of sibling folders share a name.',
  }))
}

const typeDeclarations = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration'])

function checkTypeNames(sources: readonly Source[]): Finding[] {
  const types = sources.flatMap((source) =>
    exportedTypes(source).map(({ name, line }) => ({ name, line, file: source.file })),
  )
  return repeated(types, ({ name }) => name).map(({ key, first, again }) => ({
    rule: 'type-name',
    file: again.file,
    line: again.line,
    problem: `${first.file} exports a type ${key} too`,
    remedy: 'A type name exists once: give one of them the name of what it is about.',
  }))
}

function exportedTypes(source: Source): { name: string; line: number }[] {
  const body = source.program['body']
  if (!Array.isArray(body)) return []
  return body.flatMap((statement: unknown) => {
    if (!isNode(statement) || statement.type !== 'ExportNamedDeclaration') return []
    const declaration = statement['declaration']
    if (!isNode(declaration) || !typeDeclarations.has(declaration.type)) return []
    const name = nameOf(declaration['id'])
    return name === null ? [] : [{ name, line: source.lineAt(declaration.start) }]
  })
}

/** The first item with each name, paired with every later one. */
function repeated<T>(all: readonly T[], keyOf: (one: T) => string): { key: string; first: T; again: T }[] {
  const seen = new Map<string, T>()
  return all.flatMap((again) => {
    const key = keyOf(again)
    const first = seen.get(key)
    if (first === undefined) seen.set(key, again)
    return first === undefined ? [] : [{ key, first, again }]
  })
}

const begins = /^\s*(select\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s)/i
const written = /\b(?:insert\s+into|update|delete\s+from)\s+([a-z_]{3,})\b(?=\s*(?:set\b|\(|where\b))/gi
/** Storage has its own SQL: migrations, locks, and living processes. */
const isStorage = (file: string): boolean => file.startsWith('src/storage/')

function checkRepository(source: Source): Finding[] {
  const { file } = source
  if (isStorage(file)) return []
  const statement = textsOf(source).find(({ text }) => begins.test(text))
  const isRepository = file.endsWith('-repository.ts')
  if (isRepository === (statement !== undefined)) return []
  return [
    isRepository
      ? {
          rule: 'repository',
          file,
          line: 1,
          problem: 'is named a repository and has no SQL',
          remedy: 'Name it after what it does.',
        }
      : {
          rule: 'repository',
          file,
          line: source.lineAt(statement?.node.start ?? 0),
          problem: 'has SQL',
          remedy: 'SQL stands in files named *-repository.ts; move the statement to the one of its table.',
        },
  ]
}

function checkWriters(sources: readonly Source[]): Finding[] {
  const writes = sources.flatMap((source) => {
    if (isStorage(source.file)) return []
    const tables = textsOf(source).flatMap(({ text }) =>
      [...text.matchAll(written)].map(([, table]) => table),
    )
    return [...new Set(tables)].map((table = '') => ({ table, file: source.file }))
  })
  return repeated(writes, ({ table }) => table).map(({ key, first, again }) => ({
    rule: 'table-writer',
    file: again.file,
    line: 1,
    problem: `writes the table ${key}, as ${first.file} does`,
    remedy: 'A table has one writer; move the statement there and call it.',
  }))
}

/** The texts of literals and templates, without the values inserted into templates. */
function textsOf(source: Source): { text: string; node: SyntaxNode }[] {
  return walk(source.program).flatMap(({ node }) => {
    const text = literalOf(node) ?? (node.type === 'TemplateLiteral' ? templateText(node) : null)
    return text === null ? [] : [{ text, node }]
  })
}

function templateText(node: SyntaxNode): string {
  const quasis = node['quasis']
  if (!Array.isArray(quasis)) return ''
  const parts = quasis.map((quasi: unknown) => {
    const value = isNode(quasi) ? quasi['value'] : null
    const raw = typeof value === 'object' && value !== null ? (value as { raw?: unknown }).raw : ''
    return typeof raw === 'string' ? raw : ''
  })
  return parts.join(' ')
}
