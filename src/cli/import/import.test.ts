import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingContext } from '../../../test/story/command-context.ts'
import { CommandFailure } from '../failure.ts'
import { readConfig } from '../../config.ts'
import { presets } from '../../providers/registry.ts'
import { runCommand } from '../run.ts'

let folder: string
const yaml = `model_list:
  - { model_name: fast, litellm_params: { model: groq/llama, api_key: sk-of-groq } }
general_settings: { master_key: sk-1234567890abcdef }
`

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headrace-import-'))
  writeFileSync(join(folder, 'c.yaml'), yaml)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const path = () => join(folder, 'headrace.config.json')
const configuration = () => JSON.parse(readFileSync(path(), 'utf8')) as Record<string, unknown>

async function run(args: readonly string[], answer = '', more: Parameters<typeof recordingContext>[0] = {}) {
  const context = recordingContext({
    cwd: folder,
    ...more,
    ask: () => Promise.resolve(answer),
    openStorage: () => Promise.reject(new CommandFailure('There is no organization yet.')),
  })
  const code = await runCommand(['import', ...args], context)
  return { code, output: context.output(), errors: context.errors() }
}

test('before the first start the configuration is written, and the report says that the master key is missing', async () => {
  const { code, output } = await run(['litellm', 'c.yaml'])
  expect(code).toBe(0)
  expect(output).toContain('Wrote ')
  expect(output).toContain(
    'c.yaml:3  general_settings.master_key: is not carried yet: start the gateway once',
  )
  expect(configuration()).toEqual({
    providers: [
      {
        id: 'groq',
        preset: 'groq',
        api_key: '${file:./secrets/groq}',
        only_models: true,
        models: [{ id: 'groq/llama', upstream: 'llama' }],
      },
    ],
    names: { fast: { groups: [[{ model: 'groq/llama', provider: 'groq' }]] } },
  })
  expect(readFileSync(join(folder, 'secrets/groq'), 'utf8')).toBe('sk-of-groq\n')
  expect(statSync(join(folder, 'secrets/groq')).mode & 0o777).toBe(0o600)
  expect(output).not.toContain('sk-of-groq')
})

test('the import changes an existing file only after a yes, and keeps a copy of it', async () => {
  const before = JSON.stringify({ port: 9000, providers: [{ preset: 'openai', api_key: '${env:K}' }] })
  writeFileSync(path(), before)
  for (const answer of ['', 'n']) {
    const { code, errors } = await run(['litellm', 'c.yaml'], answer)
    expect([code, readFileSync(path(), 'utf8'), existsSync(join(folder, 'secrets'))]).toEqual([
      1,
      before,
      false,
    ])
    expect(errors).toContain('--yes adds to it without asking')
  }
  expect((await run(['litellm', 'c.yaml'], 'y')).code).toBe(0)
  expect(configuration()).toMatchObject({ port: 9000, providers: [{ preset: 'openai' }, { id: 'groq' }] })
  expect(readFileSync(`${path()}.before-import`, 'utf8')).toBe(before)
  writeFileSync(path(), before)
  expect((await run(['litellm', 'c.yaml', '--yes'])).code).toBe(0)
})

test('an existing, different entry or secret stays unless --replace is given', async () => {
  await run(['litellm', 'c.yaml'])
  writeFileSync(join(folder, 'secrets/groq'), 'another')
  const kept = await run(['litellm', 'c.yaml', '--yes'])
  expect([kept.code, kept.errors]).toEqual([0, ''])
  expect(kept.output).toContain('kept as it is in the file, not as imported: secrets/groq (')
  expect(readFileSync(join(folder, 'secrets/groq'), 'utf8')).toBe('another')
  expect((await run(['litellm', 'c.yaml', '--replace'])).code).toBe(0)
  expect(readFileSync(join(folder, 'secrets/groq'), 'utf8')).toBe('sk-of-groq\n')
})

test('the exit code is 2 for a wrong command line, and 1 for an unreadable file or database, whose password is not shown', async () => {
  for (const args of [
    [],
    ['litelm', 'c.yaml'],
    ['litellm'],
    ['litellm', 'c.yaml', '--databse', 'x'],
    ['litellm', 'c.yaml', '--database', 'mysql://a/b'],
  ])
    expect([args, (await run(args)).code]).toEqual([args, 2])
  expect((await run(['litelm', 'c.yaml'])).errors).toContain('Did you mean "litellm"?')
  expect((await run(['litellm', 'none.yaml'])).code).toBe(1)
  const away = await run([
    'litellm',
    'c.yaml',
    '--database',
    'postgres://user:hunter2secret@127.0.0.1:1/litellm',
  ])
  expect(away.code).toBe(1)
  expect(away.errors).toContain("LiteLLM's database cannot be read")
  expect(away.errors).not.toContain('hunter2secret')
  expect(existsSync(path())).toBe(false)
})

test('a key that the provider takes from a variable of its own is asked for', async () => {
  writeFileSync(join(folder, 'c.yaml'), 'model_list: [{ model_name: a, litellm_params: { model: gpt-4o } }]')
  expect((await run(['litellm', 'c.yaml'])).output).toContain(
    'Set these before the gateway starts: OPENAI_API_KEY\n',
  )
})

test('the file keeps its permissions, and its copy has the same', async () => {
  writeFileSync(path(), JSON.stringify({ providers: [{ preset: 'openai', api_key: 'sk-inline' }] }))
  chmodSync(path(), 0o600)
  expect((await run(['litellm', 'c.yaml', '--yes'])).code).toBe(0)
  const modes = [path(), `${path()}.before-import`].map((file) => statSync(file).mode & 0o777)
  expect(modes).toEqual([0o600, 0o600])
})

test('a secret of the same file name is not sent by a provider that is new', async () => {
  mkdirSync(join(folder, 'secrets'))
  writeFileSync(join(folder, 'secrets/groq'), 'of-another-server')
  const refused = await run(['litellm', 'c.yaml', '--yes'])
  expect([refused.code, existsSync(path())]).toEqual([1, false])
  expect(refused.errors).toContain('secrets/groq: there is another secret, which a new provider would send')
})

test('a provider that was edited in the file is kept, and what is new is added beside it', async () => {
  await run(['litellm', 'c.yaml'])
  const edited = configuration() as { providers: Record<string, unknown>[] }
  Object.assign(edited.providers[0] ?? {}, { base_url: 'http://proxy.example/v1' })
  writeFileSync(path(), JSON.stringify(edited))
  const more = yaml.replace(
    'general',
    '  - { model_name: slow, litellm_params: { model: mistral/m } }\ngeneral',
  )
  writeFileSync(join(folder, 'c.yaml'), more)
  for (const dry of [['--dry-run'], []]) {
    const { code, output } = await run(['litellm', 'c.yaml', '--yes', ...dry])
    expect(code).toBe(0)
    expect(output).toContain('  kept as it is in the file, not as imported: providers: "groq" (')
  }
  expect(configuration()).toMatchObject({
    providers: [{ id: 'groq', base_url: 'http://proxy.example/v1' }, { id: 'mistral' }],
    names: { fast: {}, slow: {} },
  })
  expect((await run(['litellm', 'c.yaml', '--replace'])).code).toBe(0)
  expect((configuration() as typeof edited).providers[0]).not.toHaveProperty('base_url')
})

test('a new model of a provider that is in the file is added to it, so that its name can be called', async () => {
  await run(['litellm', 'c.yaml'])
  const more = yaml.replace(
    'general',
    '  - { model_name: new, litellm_params: { model: groq/qwen, api_key: sk-of-groq } }\ngeneral',
  )
  writeFileSync(join(folder, 'c.yaml'), more)
  const { output } = await run(['litellm', 'c.yaml', '--yes'])
  expect(output).not.toContain('kept as it is in the file')
  const both = [{ id: 'groq/llama' }, { id: 'groq/qwen' }]
  expect(configuration()).toMatchObject({ providers: [{ id: 'groq', models: both }], names: { new: {} } })
  // Another order is no difference, and an edited provider gets the models all the same.
  const edited = configuration() as { providers: { models: unknown[]; base_url?: string }[] }
  Object.assign(edited.providers[0] ?? {}, {
    base_url: 'http://proxy.example/v1',
    models: [{ id: 'groq/own' }],
  })
  writeFileSync(path(), JSON.stringify(edited))
  expect((await run(['litellm', 'c.yaml', '--yes'])).output).toContain('not as imported: providers: "groq" (')
  expect(configuration()).toMatchObject({
    providers: [{ base_url: 'http://proxy.example/v1', models: [{ id: 'groq/own' }, ...both] }],
  })
})

test('a name that the file has as an alias is a conflict, and the other way round', async () => {
  const aliased = `${yaml}router_settings: { model_group_alias: { quick: fast } }\n`
  writeFileSync(join(folder, 'c.yaml'), aliased)
  const groups = [[{ model: 'groq/other' }]]
  const before = JSON.stringify({ aliases: { fast: 'groq/other' }, names: { quick: { groups } } })
  writeFileSync(path(), before)
  const kept = await run(['litellm', 'c.yaml', '--yes'])
  expect(kept.code).toBe(0)
  expect(kept.output).toContain(
    'kept as it is in the file, not as imported: names: "quick", aliases: "fast" (',
  )
  expect(configuration()).toMatchObject(JSON.parse(before) as object)
  expect(Object.keys(configuration()['names'] as object)).toEqual(['quick'])
  expect((await run(['litellm', 'c.yaml', '--replace'])).code).toBe(0)
  const { names, aliases } = configuration()
  expect(Object.keys(names as object)).toEqual(['fast'])
  expect(aliases).toEqual({ quick: 'fast' })
})

test('the file that HEADRACE_CONFIG names is created if it does not exist', () => {
  const { exitCode, stdout, stderr } = Bun.spawnSync({
    cmd: [process.execPath, join(import.meta.dir, '../../main.ts'), 'import', 'litellm', 'c.yaml'],
    cwd: folder,
    env: { HEADRACE_CONFIG: 'new/headrace.json', HEADRACE_DATA: folder, PATH: '/usr/bin:/bin' },
  })
  const said = stdout.toString() + stderr.toString()
  expect([exitCode, said]).toEqual([0, expect.stringContaining('Wrote ')])
  expect(existsSync(join(folder, 'new/headrace.json'))).toBe(true)
  expect(said).toContain('is not carried yet: start the gateway once')
})

const internal = `model_list:
  - { model_name: a, litellm_params: { model: openai/x, api_base: "http://llm.example/v1", api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: b, litellm_params: { model: groq/y, api_base: "http://llm.example/v1" } }
  - { model_name: c, litellm_params: { model: bedrock/z, api_key: os.environ/MISTRAL_API_KEY } }
`
const env = {
  OPENAI_API_KEY: 'of-the-internal-server',
  GROQ_API_KEY: 'of-the-internal-server',
  MISTRAL_API_KEY: 'of-bedrock',
  XAI_API_KEY: 'of-xai',
}
const asGateway = () => readConfig({ env, cwd: folder, presets })

test('a variable that a deployment names switches no other provider on', async () => {
  writeFileSync(join(folder, 'c.yaml'), internal)
  writeFileSync(path(), JSON.stringify({ providers: [{ preset: 'deepseek', api_key: 'sk-of-deepseek' }] }))
  expect((await run(['litellm', 'c.yaml', '--yes'], '', { env })).code).toBe(0)
  const { providers } = asGateway()
  expect(providers.map(({ id, preset, base_url: url }) => [id ?? preset, url])).toEqual([
    ['deepseek', undefined],
    ['llm-example', 'http://llm.example/v1'],
    ['groq', 'http://llm.example/v1'],
    // The imported file does not name this variable.
    ['xai', undefined],
  ])
  expect(providers.find(({ id }) => id === 'llm-example')?.api_key).toBe('of-the-internal-server')
})

test('the key of a server whose address is in a variable is not sent to OpenAI', async () => {
  const own = { OPENAI_BASE_URL: 'http://llm.example/v1', OPENAI_API_KEY: 'of-the-internal-server' }
  const models = `model_list:
  - { model_name: a, litellm_params: { model: gpt-4o } }
  - { model_name: b, litellm_params: { model: gpt-4o, api_base: "https://api.openai.com/v1" } }
`
  writeFileSync(join(folder, 'c.yaml'), models)
  const { code, output } = await run(['litellm', 'c.yaml'], '', { env: own })
  expect(code).toBe(0)
  expect(output).toContain(
    'c.yaml:2  model_list[0]: says no api_base; LiteLLM takes the address in OPENAI_BASE_URL',
  )
  expect(output).toContain('c.yaml:3  model_list[1]: the deployment is not carried: "b" has no api_key')
  const { providers } = readConfig({ env: own, cwd: folder, presets })
  expect(providers.map(({ id, base_url: url, api_key: key }) => [id, url, key])).toEqual([
    ['llm-example', 'http://llm.example/v1', 'of-the-internal-server'],
  ])
})

test('the report names every provider that will run, and the variable of one that the file does not have', async () => {
  writeFileSync(join(folder, 'c.yaml'), internal)
  const drafting = {
    env,
    readConfig: (options: object = {}) => readConfig({ env, cwd: folder, presets, ...options }),
  }
  for (const dry of [['--dry-run'], []]) {
    const { output } = await run(['litellm', 'c.yaml', ...dry], '', drafting)
    expect(output).toContain(
      'Providers that will run: llm-example, groq, xai (not in the file: by the variable XAI_API_KEY)\n',
    )
    expect(output).toContain('variable MISTRAL_API_KEY switches no provider on')
  }
})

test('a file that the gateway would refuse is not written, and the report says so', async () => {
  writeFileSync(path(), JSON.stringify({ port: 'none', providers: [] }))
  const before = readFileSync(path(), 'utf8')
  const readsBack = {
    readConfig: (options: object = {}) => readConfig({ env: {}, cwd: folder, presets, ...options }),
  }
  const { code, errors } = await run(['litellm', 'c.yaml', '--yes'], '', readsBack)
  expect([code, readFileSync(path(), 'utf8'), existsSync(join(folder, 'secrets'))]).toEqual([
    1,
    before,
    false,
  ])
  expect(errors).toContain('port')
})
