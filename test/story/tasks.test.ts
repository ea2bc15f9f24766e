import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { helpOf } from '../../src/cli/help.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { presets } from '../../src/providers/registry.ts'
import { prepareGateway } from './real-gateway.ts'

const root = join(import.meta.dir, '../..')
const read = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '')
const page = read('docs/tasks.md')
const blocksOf = (language: string) =>
  [...page.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  )
const commands = blocksOf('sh')
  .flatMap((block) => block.split('\n'))
  .flatMap((line) => /npx headrace (.+)$/.exec(line)?.[1] ?? [])

/** Commands that serve until a signal, or need files that only LiteLLM's operators have; other tests run them. */
const runElsewhere = /^(serve|import) ?/

const gateway = prepareGateway()
afterAll(() => gateway.remove())

test('every command of the page of tasks works as described beside a running gateway', async () => {
  expect(commands.length).toBeGreaterThan(20)
  await gateway.start()
  const { errors: made } = await gateway.run(['keys', 'create', '--name', 'of the page'])
  const id = /key_\w+/.exec(made)?.[0] ?? ''
  for (const command of commands) {
    expect(Object.keys(helpOf)).toContain(/^[a-z]+/.exec(command)?.[0] ?? '')
    if (runElsewhere.test(command)) continue
    const { code, errors } = await gateway.run(command.replaceAll('key_…', id).split(' '))
    expect({ command, code, errors: code === 0 ? '' : errors }).toEqual({ command, code: 0, errors: '' })
  }
}, 120_000)

test('every configuration of the page of tasks is read without a problem', () => {
  const files = blocksOf('json')
  expect(files.length).toBeGreaterThan(4)
  for (const file of files) {
    const names = [...file.matchAll(/\$\{env:(\w+)\}/g)].map(([, name = '']) => [name, 'a secret'] as const)
    const path = join(gateway.folder, 'of-the-page.json')
    writeFileSync(path, file)
    const env = { ...Object.fromEntries(names), HEADRACE_CONFIG: path }
    expect({ file, problems: problemsOf(env) }).toEqual({ file, problems: [] })
  }
})

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig({ env, cwd: root, presets })
    return []
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)]
  }
}

test('the page of tasks is the first that the README names, and has the usual tasks of operators', () => {
  expect(/\]\((docs\/[\w-]+\.md)/.exec(read('README.md'))?.[1]).toBe('docs/tasks.md')
  for (const task of ['budget', 'rotate', 'provider', 'my own', 'price', 'spent', 'limit', 'LiteLLM'])
    expect(page).toContain(task)
  for (const task of ['two processes', 'back up', 'upgrade', 'Prometheus', 'nginx', 'restart'])
    expect(page).toContain(task)
})

test('the page of tasks names every provider that reranks, and every one that takes completions as they are', () => {
  const sectionOf = (title: string) => page.slice(page.indexOf(`## … ${title}`)).split('\n## ')[0] ?? ''
  const shown = presets.filter(({ isSimulator, slug }) => !isSimulator && slug !== 'custom')
  const rerankers = shown.filter(({ adapters }) => adapters.rerank !== undefined)
  const completers = shown.filter(({ adapters }) =>
    adapters.language?.some(({ format }) => format === 'completions'),
  )
  expect([rerankers.length > 5, completers.length > 5]).toEqual([true, true])
  for (const { name } of rerankers) expect(sectionOf('rerank documents')).toContain(name)
  for (const { name } of completers) expect(sectionOf('use a client of legacy')).toContain(name)
})

test('no page names a variable that the gateway refuses, or another name for its key', () => {
  let known = ''
  try {
    readConfig({ env: { HEADRACE_NOT_A_VARIABLE: '1' }, cwd: '/', presets: [] })
  } catch (error) {
    known = String(error)
  }
  const names = new Set(known.slice(known.indexOf('known ones')).match(/HEADRACE_[A-Z_]+/g))
  const pages = ['README.md', 'docs/tasks.md', 'docs/clients.md', 'docs/deployment.md', 'docs/operations.md']
  const texts = [...pages.map(read), ...Object.values(helpOf)]
  const strange = texts.flatMap((text) =>
    [...text.matchAll(/\bHEADRACE_[A-Z_]+/g)].map(([name]) => name).filter((name) => !names.has(name)),
  )
  expect(strange).toEqual([])
})

test("README's list of what does not exist yet names no provider of its table", () => {
  const text = read('README.md')
  const missing = /\nNot yet:([\s\S]*?)\n\n/.exec(text)?.[1] ?? 'no list'
  const here = presets.filter(({ name, isSimulator }) => !isSimulator && text.includes(`| ${name} | \``))
  expect(here.length).toBeGreaterThan(30)
  expect(here.map(({ name }) => name).filter((name) => missing.includes(name))).toEqual([])
})

test('tables that are generated stand below the prose of the page of configuration', () => {
  const text = read('docs/configuration.md')
  const prose = text.indexOf('## Backup and upgrade')
  for (const name of ['file', 'providers', 'addresses'])
    expect(text.indexOf(`<!-- generated: ${name} -->`)).toBeGreaterThan(prose)
})

test('a folder without Headrace has its command once the checkout was installed globally', () => {
  expect(read('README.md')).toContain('npm install --global .')
  const prefix = join(gateway.folder, 'global')
  const options = ['--prefix', prefix, '--offline', '--ignore-scripts', '--no-audit', '--no-fund']
  const made = Bun.spawnSync(['npm', 'install', '--global', ...options, '.'], { cwd: root })
  expect(made.exitCode).toBe(0)
  const run = Bun.spawnSync([join(prefix, 'bin/headrace'), '--version'], { cwd: gateway.folder })
  expect(run.stdout.toString().trim()).toMatch(/^\d+\.\d+\.\d+/)
})
