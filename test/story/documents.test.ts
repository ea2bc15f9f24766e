import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from '../../scripts/generated-files.ts'
import { priceIdProblems } from '../../scripts/price-package.ts'
import { helpOf } from '../../src/cli/help.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { listErrorTypes } from '../../src/core/errors.ts'
import { presets } from '../../src/providers/registry.ts'

const root = join(import.meta.dir, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('docs/errors.md has exactly the errors that exist, with their statuses and canonical types', () => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \| `(\w+)` \| (.+) \|$/gm)]
  const documented = rows.map(([, type, status, contractType]) => ({
    type,
    status: Number(status),
    contractType,
  }))
  expect(documented).toEqual(listErrorTypes())
  for (const [, , , , meaning = ''] of rows) expect(meaning.length).toBeGreaterThan(20)
})

test('generated parts of the documentation agree with the code', () => {
  for (const { path, content } of generatedFiles(read)) {
    const isFresh = read(path) === content
    expect(isFresh ? 'fresh' : `${path} is stale; npm run check -- --fix writes it`).toBe('fresh')
  }
})

test('docs/configuration.md names every variable that is read, and no other', () => {
  let problem = ''
  try {
    readConfig({ env: { HEADRACE_NOT_A_VARIABLE: '1' }, cwd: '/', presets: [] })
  } catch (error) {
    if (error instanceof ConfigError) problem = error.message
  }
  const known = new Set<string | undefined>(
    problem.slice(problem.indexOf('known ones')).match(/HEADRACE_[A-Z_]+/g),
  )
  const named = new Set<string | undefined>(
    [...read('docs/configuration.md').matchAll(/^\| `(HEADRACE_[A-Z_]+)` \|/gm)].map(([, name]) => name),
  )
  expect(known.size).toBeGreaterThan(5)
  expect(named).toEqual(known)
})

test('every price id of a provider is one of the price package; another is named with the remedy', () => {
  expect(priceIdProblems(presets)).toEqual([])
  const wrong = { slug: 'acme', pricesProviderId: 'acme-cloud' }
  expect(priceIdProblems([wrong, { slug: 'other', pricesProviderId: null }])).toEqual([
    'src/providers/acme: pricesProviderId "acme-cloud" is no provider of @pydantic/genai-prices; ' +
      'take an id of that package, or leave the member out and state what is known in "prices"',
  ])
})

test('the example configuration is read without a problem', () => {
  const sources = {
    env: {
      HEADRACE_CONFIG: 'headrace.config.example.json',
      OPENAI_API_KEY: 'a',
      ACME_API_KEY: 'b',
    },
    cwd: root,
    presets,
  }
  const problems = (() => {
    try {
      readConfig(sources)
      return []
    } catch (error) {
      return error instanceof ConfigError ? error.problems : [String(error)]
    }
  })()
  // An example cannot include the secret's file.
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain('secrets/groq')
})

test('every command that the pages name exists', () => {
  const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts
  for (const page of [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'docs/configuration.md',
    'docs/errors.md',
  ]) {
    const text = read(page)
    for (const [, name = ''] of text.matchAll(/npm run ([a-z-]+)/g)) {
      const file = / ([a-z]+\/[\w./-]+\.ts)/.exec(scripts[name] ?? '')?.[1] ?? `nothing for npm run ${name}`
      expect({ page, name, exists: existsSync(join(root, file)) }).toEqual({ page, name, exists: true })
    }
    for (const [, name = ''] of text.matchAll(/npx headrace ([a-z]+)/g)) {
      expect({ page, name, exists: Object.hasOwn(helpOf, name) }).toEqual({ page, name, exists: true })
    }
  }
})
