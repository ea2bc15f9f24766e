import type { Finding, Source, SyntaxNode, Visit } from './sources.ts'
import { isNode, isTest, memberOf, nameOf, walk } from './sources.ts'

type SyntaxRule = (visit: Visit, source: Source) => Pick<Finding, 'rule' | 'problem' | 'remedy'> | null

const banned: Readonly<Record<string, Pick<Finding, 'rule' | 'problem' | 'remedy'>>> = {
  ExportDefaultDeclaration: {
    rule: 'default-export',
    problem: 'a default export',
    remedy: 'Export by name, so that a thing is called the same everywhere.',
  },
  TSAnyKeyword: {
    rule: 'any',
    problem: '`any` switches the type checker off',
    remedy: 'Use `unknown` and narrow it, or write the type down.',
  },
  TSNonNullExpression: {
    rule: 'non-null',
    problem: '`!` claims what nobody checked',
    remedy: 'Handle the missing value, or `assert` what must be true.',
  },
  TSEnumDeclaration: {
    rule: 'enum',
    problem: 'an enum needs code at run time',
    remedy: 'Use a union of string literals.',
  },
}

const withheld = /^(test|it|describe)\.(skip|only|todo)$/

const withheldTest: SyntaxRule = ({ node }) => {
  const member = memberOf(node)
  if (member === null || !withheld.test(member)) return null
  return {
    rule: 'withheld-test',
    problem: `\`${member}\` leaves tests out of the run`,
    remedy: 'Mend the test or delete it; where a tool may be missing, use skipIf and print the reason.',
  }
}

/** Places that use HTTP themselves: the one client, and commands, which are clients of the gateway. */
const fetching = ['src/transport/', 'src/cli/']

const hiddenFetch: SyntaxRule = ({ node }, { file }) => {
  if (!isProduct(file) || fetching.some((place) => file.startsWith(place))) return null
  if (node.type !== 'CallExpression') return null
  const callee = node['callee']
  const isFetch =
    nameOf(callee) === 'fetch' || (isNode(callee) && /^(globalThis|Bun)\.fetch$/.test(memberOf(callee) ?? ''))
  if (!isFetch) return null
  return {
    rule: 'fetch',
    problem: 'a call of `fetch` outside transport',
    remedy:
      'Go through transport (or take a `send` as a parameter): it bounds, guards and counts every request.',
  }
}

const hiddenEnvironment: SyntaxRule = ({ node }, { file }) => {
  if (!isProduct(file) || file === 'src/config.ts') return null
  if (!/^(process|Bun)\.env$/.test(memberOf(node) ?? '')) return null
  return {
    rule: 'environment',
    problem: 'reads the environment',
    remedy: 'config.ts is the only reader; take the value as an option.',
  }
}

const hiddenDatabase: SyntaxRule = ({ node }, { file }) => {
  if (!isProduct(file) || file.startsWith('src/storage/')) return null
  const isImported = node.type === 'ImportSpecifier' && nameOf(node['imported']) === 'SQL'
  if (!isImported && !/^Bun\.(SQL|sql|S3Client)$/.test(memberOf(node) ?? '')) return null
  return {
    rule: 'package',
    problem: 'a database or object store client outside storage',
    remedy: 'Ask storage through a repository, so that the driver can be replaced in one place.',
  }
}

function isProduct(file: string): boolean {
  return file.startsWith('src/') && !isTest(file)
}

const syntaxRules: readonly SyntaxRule[] = [
  ({ node }) => banned[node.type] ?? null,
  ({ node }) => (node['definite'] === true ? (banned['TSNonNullExpression'] ?? null) : null),
  withheldTest,
  hiddenFetch,
  hiddenEnvironment,
  hiddenDatabase,
]

/** Constructs that docs/style.md rules out. */
export function checkSyntax(source: Source): Finding[] {
  const findings: Finding[] = []
  for (const visit of walk(source.program)) {
    for (const rule of syntaxRules) {
      const broken = rule(visit, source)
      if (broken !== null)
        findings.push({ file: source.file, line: source.lineAt(visit.node.start), ...broken })
    }
  }
  return findings
}

const impureModules =
  /^(node:(fs|net|http|https|http2|tls|dns|dgram|child_process|worker_threads|os|timers)|bun:)/
const impureMembers =
  /^(Date\.now|performance\.now|Math\.random|crypto\.(randomUUID|getRandomValues)|console\.\w+|process\.\w+|Bun\.(file|write|spawn|spawnSync|serve|sleep|connect|listen|nanoseconds|randomUUIDv7))$/
const impureCalls = new Set(['fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'])

/** `formats` and `providers` describe requests: they read no clock, use no random numbers and have no side effects. */
export function checkPurity(source: Source): Finding[] {
  if (!/^src\/(formats|providers)\//.test(source.file) || isTest(source.file)) return []
  const findings: Finding[] = []
  const add = (line: number, what: string) =>
    findings.push({
      rule: 'purity',
      file: source.file,
      line,
      problem: `uses ${what}`,
      remedy: 'formats and providers are pure: take the value as a parameter and let the caller do the work.',
    })
  for (const { specifier, line } of source.imports) if (impureModules.test(specifier)) add(line, specifier)
  for (const { node } of walk(source.program)) {
    const member = memberOf(node)
    if (member !== null && impureMembers.test(member)) add(source.lineAt(node.start), member)
    const callee = node.type === 'CallExpression' ? nameOf(node['callee']) : null
    if (callee !== null && impureCalls.has(callee)) add(source.lineAt(node.start), callee)
    if (isClockRead(node)) add(source.lineAt(node.start), 'new Date()')
  }
  return findings
}

function isClockRead(node: SyntaxNode): boolean {
  const given = node['arguments']
  return (
    node.type === 'NewExpression' &&
    nameOf(node['callee']) === 'Date' &&
    Array.isArray(given) &&
    given.length === 0
  )
}
