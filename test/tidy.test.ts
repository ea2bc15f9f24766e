import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkPurity, checkSyntax } from './tidy/constructs.ts'
import { exceptions } from './tidy/exceptions.ts'
import { checkFormatNames, checkOperationNames } from './tidy/formats.ts'
import { checkCycles, checkImports } from './tidy/imports.ts'
import { checkCommonNames } from './tidy/names.ts'
import { checkProofNames } from './tidy/proofs.ts'
import { checkProviderNames } from './tidy/provider-names.ts'
import { checkBarrel, checkNames, checkSizes, fileLinesAlarm } from './tidy/shape.ts'
import type { Finding, Source } from './tidy/sources.ts'
import { isTest, listFiles, parseSource, readText, rootFolder } from './tidy/sources.ts'
import { checkComments, checkDocstrings, checkLinks, checkOutside } from './tidy/words.ts'

const folders = ['src', 'simulator', 'scripts', 'test', 'bench'].filter((folder) =>
  existsSync(join(rootFolder, folder)),
)

function checkFile(source: Source): Finding[] {
  return [
    ...checkSizes(source),
    ...checkBarrel(source),
    ...checkSyntax(source),
    ...checkPurity(source),
    ...checkFormatNames(source),
    ...checkOperationNames(source),
    ...checkProviderNames(source),
    ...checkComments(source),
    ...source.comments.flatMap(({ text, line }) => checkOutside(source.file, text, line)),
    ...checkDocstrings(source),
  ]
}

/** Findings without the counted exceptions, and a finding for each exception that is too generous. */
function withoutExceptions(findings: readonly Finding[]): Finding[] {
  const remaining = [...findings]
  for (const { rule, file, count } of exceptions) {
    const covered = findings.filter((finding) => finding.rule === rule && finding.file === file)
    if (covered.length < count) {
      remaining.push({
        rule: 'exception',
        file,
        line: 1,
        problem: `${count} exceptions of "${rule}" are listed and ${covered.length} needed`,
        remedy: 'Lower the count in test/tidy/exceptions.ts, or remove the line.',
      })
    }
    for (const finding of covered.slice(0, count)) remaining.splice(remaining.indexOf(finding), 1)
  }
  return remaining
}

function toText(findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ file, line, rule, problem, remedy }) => `${file}:${line}  ${rule}: ${problem}\n    ${remedy}`,
  )
  return lines.toSorted().join('\n')
}

describe('the repository is tidy', () => {
  const files = folders.flatMap((folder) => listFiles(folder, '.ts'))
  const sources = files.map((file) => parseSource(file, readText(file)))

  test('imports point downwards, packages stay with their owners, and there are no cycles', () => {
    const findings = withoutExceptions([...checkImports(sources), ...checkCycles(sources)])
    expect(toText(findings.filter(isAboutImports))).toBe('')
  })

  test('names, sizes, constructs and comments are within the rules', () => {
    const sqlFiles = folders.flatMap((folder) => listFiles(folder, '.sql'))
    const findings = [
      ...checkNames([...files, ...sqlFiles]),
      ...checkCommonNames(sources),
      ...sources.flatMap(checkFile),
    ]
    const all = withoutExceptions([...findings, ...checkImports(sources), ...checkCycles(sources)])
    expect(toText(all.filter((finding) => !isAboutImports(finding)))).toBe('')
    printAlarms(sources)
    // It reads every file of the repository, while every core may be busy.
  }, 60_000)

  test('proofs name tests that exist', () => {
    const proofs = listFiles('test/prove', '.ts')
    expect(toText(proofs.flatMap((file) => checkProofNames(file, readText(file))))).toBe('')
    const stale = "{ file: 'test/contract/rerank.test.ts', names: ['a test that nobody has written'] }"
    expect(checkProofNames('test/prove/x.ts', stale)).toMatchObject([{ rule: 'proof-name', line: 1 }])
  })

  test('links between documents lead somewhere', () => {
    const documents = listFiles('', '.md')
    expect(toText(documents.flatMap((file) => checkLinks(file, readText(file))))).toBe('')
  })

  test('no document and no comment of a schema or a script leads out of the repository', () => {
    const texts = ['.md', '.sql', '.sh', '.patch', 'bin/headrace.js', '.ci/run'].flatMap((end) =>
      listFiles('', end),
    )
    expect(toText(texts.flatMap((file) => checkOutside(file, readText(file))))).toBe('')
  })
})

const importRules = new Set([
  'extension',
  'simulator',
  'src-border',
  'layer',
  'format',
  'storage',
  'package',
  'cycle',
  'vendor',
])

function isAboutImports(finding: Finding): boolean {
  return importRules.has(finding.rule)
}

/** The ceiling fails; before that the reader is told, because the number is an alarm and not an aim. */
function printAlarms(sources: readonly Source[]): void {
  if (process.env['HEADRACE_TEST_VERBOSE'] !== 'yes') return
  const long = sources.filter((source) => source.lineCount > fileLinesAlarm && !isTest(source.file))
  for (const { file, lineCount } of long) console.warn(`${file}: ${lineCount} lines; look for the seam`)
}

/** The rules that one sample breaks, in order of appearance. */
function rulesOf(file: string, text: string): string[] {
  const source = parseSource(file, text)
  return [...checkImports([source]), ...checkFile(source)].map((finding) => finding.rule)
}

describe('the import rules can fail', () => {
  const bad: [file: string, text: string, rule: string][] = [
    ['src/core/x.ts', "import { a } from '../http/a.ts'", 'layer'],
    ['src/billing/x.ts', "import type { A } from '../routing/a.ts'", 'layer'],
    ['src/core/x.ts', "export { a } from '../canonical/a.ts'\nconst b = 1", 'layer'],
    ['src/formats/x.ts', "const a = await import('../execution/a.ts')", 'layer'],
    ['src/formats/x.ts', "let a: import('../execution/a.ts').A | null = null", 'layer'],
    ['src/execution/attempts/x.ts', "import { a } from '../settling/a.ts'", 'layer'],
    ['src/unheard/x.ts', "import { a } from '../core/a.ts'", 'layer'],
    ['src/http/x.ts', "import { config } from '../config.ts'", 'layer'],
    ['src/config.ts', "import { a } from './http/a.ts'", 'layer'],
    ['src/config-file.ts', "import { a } from './gateway.ts'", 'layer'],
    ['src/config-file.ts', "import { a } from './formats/sse.ts'", 'layer'],
    ['src/cli/x.ts', "import { createGateway } from '../gateway.ts'", 'layer'],
    ['src/billing/ledger.ts', "import type { Database } from '../storage/database.ts'", 'storage'],
    ['src/formats/text/chat/x.ts', "import { a } from '../messages/a.ts'", 'format'],
    ['src/providers/xai/x.ts', "import { a } from '../../formats/text/chat/pass-answer.ts'", 'format'],
    ['src/providers/xai/x.ts', "import { a } from '../../formats/rerank/rerank-codec.ts'", 'format'],
    ['test/x.ts', "import { a } from '../src/providers/hume/speech.ts'", 'vendor'],
    ['src/core/x.ts', "import { a } from './a'", 'extension'],
    ['simulator/x.ts', "import { a } from '../src/core/a.ts'", 'simulator'],
    ['src/http/x.ts', "import { a } from '../../simulator/server.ts'", 'src-border'],
    ['src/main.ts', "import { draw } from '../simulator/random.ts'", 'src-border'],
    ['src/cli/x.ts', "import about from '../../package.json' with { type: 'json' }", 'src-border'],
    ['src/main.ts', "import lock from '../package-lock.json' with { type: 'json' }", 'src-border'],
    ['simulator/x.ts', "import { test } from 'bun:test'", 'package'],
    ['src/billing/x.ts', "import { Hono } from 'hono'", 'package'],
    ['src/billing/x.ts', "import { stream } from 'hono/streaming'", 'package'],
    ['src/http/x.ts', "import pino from 'pino'", 'package'],
    ['src/billing/x.ts', "import { Database } from 'bun:sqlite'", 'package'],
    ['src/access/x.ts', "import { z } from 'zod'", 'package'],
    ['src/http/x.ts', "import leftPad from 'left-pad'", 'package'],
    ['src/billing/x.ts', "import { SQL } from 'bun'", 'package'],
    ['src/billing/x.ts', 'const db = new Bun.SQL(url)', 'package'],
  ]
  test.each(bad)('%s with %s breaks %s', (file, text, rule) => {
    expect(rulesOf(file, text)).toEqual([rule])
  })

  const good: [file: string, text: string][] = [
    ['src/http/x.ts', "import { a } from '../core/a.ts'"],
    ['src/http/x.ts', "import { a } from './a.ts'"],
    ['src/providers/xai/x.ts', "import { openAiChat } from '../../formats/text/chat/quirks.ts'"],
    ['src/main.ts', "import { a } from './http/a.ts'"],
    ['src/main.ts', "const { startSimulator } = await import('../simulator/server.ts')"],
    ['src/gateway-core.ts', "import about from '../package.json' with { type: 'json' }"],
    ['simulator/testing.ts', "import { test } from 'bun:test'"],
    ['src/config-file.ts', "import { z } from 'zod'"],
    ['src/config.ts', "import { a } from './config-file.ts'"],
    ['src/config-file.ts', "import { describeIssue } from './formats/schema-issue.ts'"],
    ['src/stores.ts', "import { a } from './http/a.ts'"],
    ['src/billing/ledger/ledger-repository.ts', "import type { Unit } from '../storage/database.ts'"],
    ['src/billing/ledger.test.ts', "import { openDatabase } from '../storage/database.ts'"],
    ['src/http/server.ts', "import { Hono } from 'hono'"],
    ['src/core/x.ts', "import { randomBytes } from 'node:crypto'"],
    ['src/http/handlers/x.ts', "import { a } from '../routes.ts'"],
  ]
  test.each(good)('%s with %s is fine', (file, text) => {
    expect(rulesOf(file, text)).toEqual([])
  })

  test('a cycle of three files is found once and named', () => {
    const edges = [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
      ['d', 'a'],
    ]
    const sources = edges.map(([from, to]) =>
      parseSource(`src/core/${from}.ts`, `import { ${to} } from './${to}.ts'`),
    )
    const findings = checkCycles(sources)
    expect(findings.map((finding) => finding.problem)).toEqual([
      'import cycle: src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts',
    ])
  })
})

describe('the rules about common names can fail', () => {
  const bad: [rules: readonly string[], files: readonly (readonly [file: string, text: string])[]][] = [
    [
      ['base-name'],
      [
        ['src/core/a.ts', ''],
        ['src/http/a.ts', ''],
      ],
    ],
    [
      ['base-name'],
      [
        ['src/formats/rerank/codec.ts', ''],
        ['src/formats/text/codec.ts', ''],
      ],
    ],
    [
      ['type-name'],
      [
        ['src/core/a.ts', 'export interface A {}'],
        ['src/http/b.ts', 'export type A = 1'],
      ],
    ],
    [['repository'], [['src/billing/a-repository.ts', 'const a = 1']]],
    [['repository'], [['src/billing/a.ts', 'const a = `select 1 from ${b}`']]],
    [
      ['table-writer'],
      [
        ['src/billing/a-repository.ts', 'const a = `update keys set a = 1`'],
        ['src/access/b-repository.ts', "const b = 'delete from keys where a = 1'"],
      ],
    ],
    [
      ['bound'],
      [
        ['src/core/limits/a.ts', '/** One. */\nexport const aMax = 1\n/** Two. */\nexport const bMax = 2\n'],
        ['src/http/b.ts', 'aMax + bMax'],
        ['src/http/c.ts', 'bMax'],
      ],
    ],
    [
      ['bound', 'bound'],
      [
        ['src/core/limits/a.ts', '/** Two. */\nexport const aMax = 1\nexport const bMax = 2\n'],
        ['src/http/b.ts', 'aMax'],
        ['src/http/c.ts', '// Not as aMax.\nbMax'],
      ],
    ],
    [
      [],
      [
        ['src/core/limits/a.ts', '/** Two. */\nexport const aMax = 1\nexport const bMax = 2\n'],
        ['src/http/b.ts', 'aMax + bMax'],
        ['src/http/c.ts', 'aMax + bMax'],
        ['src/providers/one/prices.ts', 'const a = "update your key"'],
        ['src/providers/two/prices.ts', ''],
        ['src/catalog/prices.ts', 'interface A {}'],
        [
          'src/billing/a-repository.ts',
          'export interface A {}\nconst a = `insert into keys (a) values ($1)`',
        ],
      ],
    ],
  ]
  test.each(bad)('%j of %j', (rules, files) => {
    const sources = files.map(([file, text]) => parseSource(file, text))
    expect(checkCommonNames(sources).map(({ rule }) => rule)).toEqual([...rules])
  })
})

describe('the rules about shape can fail', () => {
  const bad: [rule: string, file: string, text: string][] = [
    ['default-export', 'src/core/x.ts', 'export default 1'],
    ['any', 'src/core/x.ts', 'const a = (b: any) => b'],
    ['non-null', 'src/core/x.ts', 'const a = b!.c'],
    ['non-null', 'src/core/x.ts', 'class A {\n  b!: string\n}'],
    ['enum', 'src/core/x.ts', 'enum A {\n  B,\n}'],
    ['barrel', 'src/core/x.ts', "export { a } from './a.ts'\nexport type { B } from './b.ts'"],
    ['barrel', 'src/core/x.ts', "export * from './a.ts'\nconst b = 1"],
    ['withheld-test', 'src/core/x.test.ts', "test.skip('a', () => {})"],
    ['withheld-test', 'test/x.ts', "describe.only('a', () => {})"],
    ['fetch', 'src/billing/x.ts', 'const a = await fetch(url)'],
    ['fetch', 'src/billing/x.ts', 'const a = await globalThis.fetch(url)'],
    ['environment', 'src/billing/x.ts', 'const a = process.env.HOME'],
    ['purity', 'src/formats/x.ts', 'const a = Date.now()'],
    ['purity', 'src/formats/x.ts', 'const a = new Date()'],
    ['purity', 'src/providers/x.ts', 'const a = crypto.randomUUID()'],
    ['purity', 'src/providers/x.ts', "import { readFileSync } from 'node:fs'"],
    ['purity', 'src/formats/x.ts', "console.log('a')"],
    ['function-length', 'src/core/x.ts', `function a() {\n${'  b()\n'.repeat(69)}}`],
    ['file-length', 'src/core/x.ts', 'a()\n'.repeat(501)],
    ['todo', 'src/core/x.ts', '// TODO: later'],
    ['banner', 'src/core/x.ts', '// ---------- part ----------'],
    ['outside', 'src/core/x.ts', '// Costs are rounded half-even (design §5).'],
    ['provider-name', 'src/catalog/x.ts', 'const sees = /gpt-4o|vision/'],
    ['provider-name', 'src/execution/x.ts', "if (preset.slug === 'groq') a()"],
    ['provider-name', 'src/billing/x.ts', 'const price = deepSeekPrice'],
    ['provider-name', 'src/routing/x.ts', 'const id = `openai/${model}`'],
    ['operation-name', 'src/http/x.ts', "const group = name === 'messages' ? 'a' : 'b'"],
    ['operation-name', 'src/execution/x.ts', "if ('embeddings' !== quirks.format) a()"],
    ['operation-name', 'src/batches/x.ts', "switch (name) {\n  case 'responses':\n    a()\n}"],
    ['operation-name', 'src/execution/x.ts', "if (call.kind === 'transcription') a()"],
    ['operation-name', 'src/execution/x.ts', "if (call.kind === 'speech') a(operations.speech.path)"],
    ['operation-name', 'src/billing/x.ts', "if (name === 'rerank') a()"],
    ['operation-name', 'src/http/x.ts', "const types = { chat_completions: 'completions' }"],
    ['outside', 'test/x.ts', '/** As reference/formats.md says. */\nconst a = 1'],
    ['dead-code', 'src/core/x.ts', '// const a = b()'],
    ['dead-code', 'src/core/x.ts', '// if (a) {\n//   b()\n// }'],
    ['dead-code', 'src/core/x.ts', "// import { a } from './a.ts'"],
    ['silenced', 'src/core/x.ts', '// oxlint-disable-next-line no-console\na()'],
    ['docstring', 'src/core/x.ts', 'export function a() {}'],
    ['docstring', 'src/core/x.ts', '// Not a docstring.\nexport interface A {}'],
    ['docstring', 'src/core/x.ts', '/** A. */\nexport type A = 1\n\nexport type B = 2'],
  ]
  test.each(bad)('%s in %s: %s', (rule, file, text) => {
    expect(rulesOf(file, text)).toEqual([rule])
  })

  const good: [file: string, text: string][] = [
    ['src/core/x.ts', `function a() {\n${'  b()\n'.repeat(68)}}`],
    ['src/core/x.ts', 'a()\n'.repeat(500)],
    ['src/core/x.test.ts', 'a()\n'.repeat(501)],
    ['src/providers/acme/prices.ts', 'a()\n'.repeat(501)],
    ['src/providers/index.ts', "export { a } from './a.ts'"],
    ['simulator/audio/apis.ts', "export { a } from './a.ts'"],
    ['src/core/x.ts', 'const a = new Date(0)'],
    ['src/formats/x.ts', 'const a = new Date(seconds * 1000)'],
    ['src/formats/x.test.ts', 'const a = Date.now()'],
    ['src/catalog/x.ts', '// As Groq lists them.\nconst rerank = /rerank|embed/'],
    ['src/providers/groq/x.ts', "const name = 'groq'"],
    ['src/transport/x.ts', 'const a = await fetch(url)'],
    ['src/core/x.ts', '// TODO(#12): later'],
    ['src/http/x.ts', 'const { responses, chat_completions: row } = operations'],
    ['src/execution/x.ts', 'a(operations.speech.path)'],
    ['src/core/x.ts', '// The final usage frame has no choices, so it is read first (see §4).'],
    ['src/core/x.ts', '// A price of 0 = free; an absent one = unknown.'],
    ['src/core/x.ts', '// oxlint-disable-next-line no-console -- the last words of a dying process\na()'],
    ['src/core/x.ts', '/** Adds one. */\nexport function a() {}'],
    ['src/core/x.ts', 'export function createLedger(): Ledger {}'],
    ['src/core/x.ts', '/** Both. */\nexport type A = 1\nexport type B = 2'],
    ['src/core/x.ts', '/** Adds one. */\nexport function a(b: 1): 1\nexport function a(b: number) {}'],
  ]
  test.each(good)('%s with %s is fine', (file, text) => {
    expect(rulesOf(file, text)).toEqual([])
  })

  test('names are kebab-case and mean something', () => {
    const files = [
      'src/core/loadThing.ts',
      'src/utils/a.ts',
      'src/http/session-manager.ts',
      'src/http/Server.test.ts',
      'src/http/route-table.test.ts',
      'src/storage/migrations/0001_initial.sql',
      'src/formats/service-tier.ts',
    ]
    expect(checkNames(files).map(({ rule, file }) => `${rule} ${file}`)).toEqual([
      'kebab-case src/core/loadThing.ts',
      'banned-name src/utils/a.ts',
      'banned-name src/http/session-manager.ts',
      'kebab-case src/http/Server.test.ts',
    ])
  })

  test('a link to a missing document is found, one inside a code block is not', () => {
    const text =
      '[a](no-such-file.md)\n[b](https://example.com) [c](#here) [d](package.json)\n```\n[e](no.md)\n```\n'
    expect(checkLinks('README.md', text).map((finding) => finding.line)).toEqual([1])
  })
})
