import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, printConfig, readConfig, type Config } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const presets = [
  { slug: 'openai', keyVariable: 'OPENAI_API_KEY', baseUrlVariable: null },
  { slug: 'ollama', keyVariable: null, baseUrlVariable: 'OLLAMA_BASE_URL' },
  { slug: 'custom', keyVariable: null, baseUrlVariable: null },
]

function read(env: Record<string, string>, file?: unknown): Config {
  const path = join(folder, 'headrace.config.json')
  rmSync(path, { force: true })
  if (file !== undefined) writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file))
  return readConfig({ env, cwd: folder, presets })
}

function problemsOf(env: Record<string, string>, file?: unknown): readonly string[] {
  try {
    read(env, file)
    return []
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)]
  }
}

test('nothing configured listens on loopback with its data beside it', () => {
  const config = read({})
  expect([config.host, config.port, config.dataFolder, config.providers.length]).toEqual([
    '127.0.0.1',
    8787,
    join(folder, 'data'),
    0,
  ])
  expect(config.databaseUrl).toBe(`sqlite:${join(folder, 'data', 'headrace.db')}`)
  expect(Object.isFrozen(config)).toBe(true)
})

test('the environment wins over the file', () => {
  const config = read({ HEADRACE_PORT: '9001' }, { port: 9000, host: '0.0.0.0' })
  expect([config.port, config.host]).toEqual([9001, '0.0.0.0'])
})

test('all problems are reported at once, each with its place', () => {
  const problems = problemsOf(
    {
      HEADRACE_PORT: 'http',
      HEADRACE_BOOTSTRAP_CREDITS: '-1',
      HEADRACE_PROT: '1',
      HEADRACE_BOOTSTRAP_KEY: 'short',
    },
    {
      hots: 'x',
      providers: [{ preset: 'opnai' }, { preset: 'custom' }, { preset: 'custom', base_url: 'http://a' }],
    },
  )
  const text = problems.join('\n')
  for (const part of [
    'HEADRACE_PORT',
    'HEADRACE_BOOTSTRAP_CREDITS',
    'HEADRACE_PROT',
    'HEADRACE_BOOTSTRAP_KEY',
    'hots',
  ]) {
    expect(text).toContain(part)
  }
  const providers = problemsOf(
    {},
    {
      providers: [{ preset: 'opnai' }, { preset: 'custom' }, { preset: 'custom', base_url: 'http://a' }],
    },
  ).join('\n')
  expect(providers).toContain('"opnai" is not known')
  expect(providers).toContain('providers.1.base_url')
  expect(providers).toContain('"custom" is used twice')
})

test('secrets come from the environment or a file, and a missing one is named', () => {
  writeFileSync(join(folder, 'secret'), 'from-file\n')
  const config = read(
    { KEY: 'from-env' },
    {
      providers: [
        { preset: 'openai', api_key: '${env:KEY}' },
        { preset: 'custom', base_url: 'http://a', api_key: '${file:secret}' },
      ],
    },
  )
  expect(config.providers.map((provider) => provider.api_key)).toEqual(['from-env', 'from-file'])
  expect(problemsOf({}, { providers: [{ preset: 'openai', api_key: '${env:KEY}' }] }).join()).toContain(
    'providers.0.api_key: variable KEY is not set',
  )
})

test('a key or a base URL in the environment switches a provider on, unless the file names it', () => {
  const config = read({ OPENAI_API_KEY: 'sk-1', OLLAMA_BASE_URL: 'http://127.0.0.1:11434/v1' })
  expect(config.providers.map(({ preset }) => preset)).toEqual(['openai', 'ollama'])
  const named = read(
    { OPENAI_API_KEY: 'sk-1' },
    { providers: [{ preset: 'openai', id: 'eu', api_key: 'sk-2' }] },
  )
  expect(named.providers.map(({ id }) => id)).toEqual(['eu'])
})

test('printing shows no secret', () => {
  const shown = printConfig(
    read(
      {
        OPENAI_API_KEY: 'sk-secret-1',
        DATABASE_URL: 'postgres://me:hunter2@db/x',
        HEADRACE_BOOTSTRAP_KEY: 'k'.repeat(20),
      },
      { providers: [{ preset: 'custom', base_url: 'http://a', api_key: 'sk-secret-2' }] },
    ),
  )
  for (const secret of ['sk-secret', 'hunter2', 'kkkk']) expect(shown).not.toContain(secret)
  expect(shown).toContain('[secret]')
})

test('a file that is not JSON, or is named and missing, says so', () => {
  expect(problemsOf({}, '{ "port": }').join()).toContain('headrace.config.json')
  expect(problemsOf({ HEADRACE_CONFIG: 'nowhere.json' }).join()).toContain('there is no file')
})

test('a base path is a path', () => {
  expect(read({ HEADRACE_BASE_PATH: '/ai/' }).basePath).toBe('/ai')
  expect(problemsOf({ HEADRACE_BASE_PATH: 'ai' }).join()).toContain('begin with a slash')
})
