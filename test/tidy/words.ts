import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import type { Finding, Source, SourceComment, SyntaxNode } from './sources.ts'
import { isNode, isTest, rootFolder } from './sources.ts'

/** Finds promises without a number, banners, commented-out code, and silenced checks without a reason. */
export function checkComments(source: Source): Finding[] {
  const findings: Finding[] = []
  for (const comment of source.comments) {
    const broken = brokenComment(comment)
    if (broken !== null) findings.push({ file: source.file, line: comment.line, ...broken })
  }
  for (const group of lineGroups(source.comments)) {
    if (!isCode(group.text)) continue
    findings.push({
      rule: 'dead-code',
      file: source.file,
      line: group.line,
      problem: 'code that was commented out',
      remedy: 'Delete it; the history keeps it.',
    })
  }
  return findings
}

function brokenComment(comment: SourceComment): Pick<Finding, 'rule' | 'problem' | 'remedy'> | null {
  const { text } = comment
  const promise = /\b(TODO|FIXME|XXX|HACK)\b/.exec(text)
  if (promise !== null && !/#\d+/.test(text)) {
    return {
      rule: 'todo',
      problem: `${promise[0]} without an issue number`,
      remedy: 'Do it now, or open an issue and write its number (#123).',
    }
  }
  if (/[-=*#~─━]{6,}/.test(text)) {
    return {
      rule: 'banner',
      problem: 'a banner',
      remedy: 'A part that needs a headline needs its own file, or none.',
    }
  }
  const silenced = /^\s*(oxlint-disable|eslint-disable|@ts-ignore|@ts-expect-error|@ts-nocheck)[^\n]*/.exec(
    text,
  )
  if (silenced !== null && !/--\s*\S+\s+\S+/.test(silenced[0])) {
    return {
      rule: 'silenced',
      problem: 'a check is silenced without a reason',
      remedy: 'Mend what it complains about, or write the reason behind " -- ".',
    }
  }
  return null
}

/** Line comments on consecutive lines form one text. */
function lineGroups(comments: readonly SourceComment[]): { text: string; line: number }[] {
  const groups: { text: string; line: number; nextLine: number }[] = []
  for (const comment of comments) {
    if (comment.kind !== 'line') continue
    const last = groups.at(-1)
    if (last !== undefined && last.nextLine === comment.line) {
      last.text += `\n${comment.text}`
      last.nextLine += 1
    } else {
      groups.push({ text: comment.text, line: comment.line, nextLine: comment.line + 1 })
    }
  }
  return groups
}

const codeTypes = new Set([
  'VariableDeclaration',
  'FunctionDeclaration',
  'ClassDeclaration',
  'ReturnStatement',
  'IfStatement',
  'ForStatement',
  'ForOfStatement',
  'WhileStatement',
  'ThrowStatement',
])

/** Prose rarely parses; a text that parses and has a statement with an effect is code. */
function isCode(text: string): boolean {
  if (!/[(){}=;]/.test(text)) return false
  const isImport = /^\s*(import|export) [\s\S]*from ['"]/.test(text)
  const parsed = parseSync('comment.ts', isImport ? text : `async function* f() {\n${text}\n}`)
  if (parsed.errors.length > 0) return false
  if (isImport) return true
  const outer = parsed.program.body[0] as unknown as SyntaxNode
  const block = outer['body']
  const statements = isNode(block) && Array.isArray(block['body']) ? block['body'].filter(isNode) : []
  return statements.some((statement) => codeTypes.has(statement.type) || isEffect(statement))
}

function isEffect(statement: SyntaxNode): boolean {
  const expression = statement['expression']
  if (statement.type !== 'ExpressionStatement' || !isNode(expression)) return false
  return ['CallExpression', 'AssignmentExpression', 'AwaitExpression'].includes(expression.type)
}

const documented = new Set([
  'FunctionDeclaration',
  'ClassDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
])

/** Exported types and functions of src explain themselves: meaning, units, ranges, errors. */
export function checkDocstrings(source: Source): Finding[] {
  if (!source.file.startsWith('src/') || isTest(source.file) || source.file.endsWith('.gen.ts')) return []
  const body = source.program['body']
  if (!Array.isArray(body)) return []
  const findings: Finding[] = []
  for (const node of body.filter(isNode)) {
    const declaration = node['declaration']
    if (node.type !== 'ExportNamedDeclaration' || !isNode(declaration)) continue
    if (!documented.has(declaration.type) || isDocumented(source, node)) continue
    const id = declaration['id']
    // `createLedger` returns a `Ledger`, and that type carries the contract.
    if (isNode(id) && /^create[A-Z]/.test(String(id['name']))) continue
    findings.push({
      rule: 'docstring',
      file: source.file,
      line: source.lineAt(node.start),
      problem: `exported ${isNode(id) ? String(id['name']) : 'declaration'} has no docstring`,
      remedy: 'Say in a sentence what it means: units, ranges, who may call it, what it throws.',
    })
  }
  return findings
}

function isDocumented(source: Source, node: SyntaxNode): boolean {
  const before = source.comments.findLast((comment) => comment.end <= node.start)
  if (before === undefined || before.kind !== 'block' || !before.text.startsWith('*')) {
    return isOverload(source, node)
  }
  const between = source.text.slice(before.end, node.start)
  return between.trim() === '' || isOneOfAList(between) || isOverload(source, node)
}

/** One-line aliases directly below each other, such as the id types, share the docstring above the first. */
function isOneOfAList(between: string): boolean {
  const lines = between.trim().split('\n')
  return !between.includes('\n\n') && lines.every((line) => line.startsWith('export type '))
}

/** The second and later signatures of one function share the first one's docstring. */
function isOverload(source: Source, node: SyntaxNode): boolean {
  const name = /^export (?:async )?function\*? (\w+)/.exec(
    source.text.slice(node.start, node.start + 200),
  )?.[1]
  if (name === undefined) return false
  return new RegExp(`^export (async )?function\\*? ${name}\\b`, 'm').test(source.text.slice(0, node.start))
}

const outside: readonly [pattern: RegExp, what: string][] = [
  [/\breference\/[\w-]+\.md\b/, 'a reference that is not in this repository'],
  [/\.\.\/shared\b/, 'a folder beside this repository'],
  [
    /\bhouse-style\.md\b|\b[Hh]ouse.style §|\bdesign(?:\.md)? §|§\d* ?of the desi[g]n\b/,
    'a document by an old name',
  ],
]

/** Words of a document or a comment that refer to something outside the repository, which a reader cannot see. */
export function checkOutside(file: string, text: string, line = 1): Finding[] {
  return text.split('\n').flatMap((words, index) =>
    outside
      .filter(([pattern]) => pattern.test(words))
      .map(([, what]) => ({
        rule: 'outside',
        file,
        line: line + index,
        problem: `names ${what}`,
        remedy: 'Name a file of docs/ (docs/design.md, docs/style.md), or state the fact itself.',
      })),
  )
}

/** Links between the repository's documents, which break when files move. */
export function checkLinks(file: string, text: string): Finding[] {
  const findings: Finding[] = []
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ' '))
  for (const match of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
    const link = (match[1] ?? '').split('#')[0] ?? ''
    if (link === '' || /^[a-z]+:/.test(link)) continue
    const target = link.startsWith('/') ? link.slice(1) : posix.join(posix.dirname(file), link)
    const isOutside = target.startsWith('..')
    if (!isOutside && existsSync(join(rootFolder, target))) continue
    findings.push({
      rule: 'link',
      file,
      line: prose.slice(0, match.index).split('\n').length,
      problem: `links to ${link}, which ${isOutside ? 'is outside of this repository' : 'does not exist'}`,
      remedy: 'Point the link at where the file is now.',
    })
  }
  return findings
}
