import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, printConfig, readConfig, type Config } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const presets = [
  {
    slug: 'amazon',
    keyVariable: null,
    baseUrl: 'https://{region}.a/v1',
    baseUrlVariable: null,
    placeVariables: { region: ['AWS_REGION'] },
    identity: { kind: 'aws' as const },
  },
  { slug: 'openai', keyVariable: 'OPENAI_API_KEY', baseUrl: 'https://a/v1', baseUrlVariable: null },
  { slug: 'ollama', keyVariable: null, baseUrl: 'http://a/v1', baseUrlVariable: 'OLLAMA_BASE_URL' },
  { slug: 'custom', keyVariable: null, baseUrl: null, baseUrlVariable: null, keyForms: { bearer: {} } },
].map((preset) => ({ ...preset, isOperatorNamed: preset.slug === 'custom' }))

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
  const text = problemsOf(
    {
      HEADRACE_PORT: 'http',
      HEADRACE_BOOTSTRAP_CREDITS: '-1',
      HEADRACE_PROT: '1',
      HEADRACE_BOOTSTRAP_KEY: 'short',
      HEADRACE_SHARE_PORT: 'yes',
      DATABASE_URL: 'mysql://me:hunter2@db/x',
      OLLAMA_BASE_URL: 'localhost:11434',
    },
    {
      hots: 'x',
      providers: [
        { preset: 'opnai' },
        { preset: 'custom' },
        { preset: 'custom', base_url: 'http://a' },
        { preset: 'openai', base_url: 'api.openai.com/v1', weight: -1 },
      ],
    },
  ).join('\n')
  for (const part of [
    'HEADRACE_PORT',
    'HEADRACE_BOOTSTRAP_CREDITS',
    'HEADRACE_PROT',
    'HEADRACE_BOOTSTRAP_KEY',
    'HEADRACE_SHARE_PORT: "yes"',
    'DATABASE_URL: must begin with postgres://',
    'OLLAMA_BASE_URL: "localhost:11434" is not an address',
    'hots',
    '"opnai" is not known',
    'providers.1.base_url: needed',
    '"custom" is used twice',
    'providers.3.base_url: must be an http:// or https:// address',
    'providers.3.weight',
  ]) {
    expect(text).toContain(part)
  }
  expect(text).not.toContain('hunter2')
})

test('an address ends with its version: what follows is refused, and not shown', () => {
  const query = 'http://a/v1?key=hunter2'
  const problems = problemsOf(
    { OLLAMA_BASE_URL: query },
    {
      providers: [
        { preset: 'custom', base_url: query },
        { preset: 'openai', base_url: 'http://a/v1#x' },
      ],
    },
  ).join('\n')
  expect(problems).toContain(
    'providers.0.base_url: must end with the version; what follows a "?" goes into "query"',
  )
  expect(problems).toContain('providers.1.base_url: must end')
  expect(problems).toContain('OLLAMA_BASE_URL: ')
  expect(problems).not.toContain('hunter2')
})

test('what is wrong with the file is told in plain words, without any of its values', () => {
  const problems = problemsOf(
    {},
    {
      hots: 'x',
      log_level: 'loud',
      port: '8787',
      share_port: 'hunter2',
      providers: [{ preset: 'openai', weight: 0, api_key: 7, models: [{ id: '' }] }, {}],
    },
  ).map((problem) => problem.replace(/^.*config\.json: /, ''))
  expect(problems).toEqual([
    'port: must be a number, not string',
    'log_level: must be one of "silent", "error", "warn", "info", "debug"',
    'share_port: must be a boolean, not string',
    'providers.0.api_key: must be a string, not number',
    'providers.0.weight: must be a number above 0',
    'providers.0.models.0.id: must not be empty',
    'providers.1.preset: is required; send a string',
    '(top level): has members that are not known: "hots"',
  ])
})

test('the two keys of the first start are two', () => {
  const secret = 'k'.repeat(20)
  const env = { HEADRACE_BOOTSTRAP_KEY: secret, HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: secret }
  expect(problemsOf(env)).toEqual([
    'HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: the same as HEADRACE_BOOTSTRAP_KEY; use two keys',
  ])
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

test('a reference with something around it is refused, and not taken for a key', () => {
  const slips = ['sk-${env:KEY}', '${env:KEY} ', '${envx:KEY}', '${ env:KEY}', '${file:a.txt}\n']
  for (const api_key of slips) {
    const [problem = '', ...others] = problemsOf({ KEY: 'k' }, { providers: [{ preset: 'openai', api_key }] })
    expect(problem).toContain('providers.0.api_key: ${env:NAME} or ${file:path} must be the whole value')
    expect(others).toEqual([])
  }
  expect(problemsOf({}, { data: 'a$b{c}' })).toEqual([])
})

test('what is wrong with one member of the file hides nothing that is wrong with another', () => {
  const problems = problemsOf(
    {},
    {
      role: 'boss',
      base_path: 'ai',
      trusted_proxies: ['10.0.0.0/33'],
      database_url: 'mysql://me:hidden-word@db/x',
    },
  ).join('\n')
  for (const part of ['role', '"ai" must begin with a slash', '"10.0.0.0/33"', 'must begin with postgres://'])
    expect(problems).toContain(part)
  expect(problems).not.toContain('hidden-word')
})

test('payloads are on a server where BLOB_URL names one', () => {
  const key = { AWS_ACCESS_KEY_ID: 'AKTEST', AWS_SECRET_ACCESS_KEY: 'the-secret' }
  expect(read({}).objectStore).toBe(null)
  const aws = read({ BLOB_URL: 's3://payloads/a/b?region=eu-west-1', ...key })
  expect(aws.objectStore).toEqual({
    endpoint: 'https://s3.eu-west-1.amazonaws.com',
    region: 'eu-west-1',
    bucket: 'payloads',
    prefix: 'a/b',
    addressing: 'host',
    accessKeyId: 'AKTEST',
    secretAccessKey: 'the-secret',
    sessionToken: null,
  })
  expect(printConfig(aws)).not.toContain('the-secret')
  const own = read({ BLOB_URL: 's3://payloads?endpoint=http://127.0.0.1:9000', AWS_REGION: 'here', ...key })
  expect(own.objectStore).toMatchObject({
    endpoint: 'http://127.0.0.1:9000',
    region: 'here',
    prefix: '',
    addressing: 'path',
  })
  const named = { ...key, AWS_ENDPOINT_URL_S3: 'https://oss.example', AWS_SESSION_TOKEN: 'token' }
  expect(read({ BLOB_URL: 's3://payloads?path_style=false', ...named }).objectStore).toMatchObject({
    endpoint: 'https://oss.example',
    addressing: 'host',
    sessionToken: 'token',
  })
})

test('a wrong BLOB_URL is refused with a message that names the variable and no secret', () => {
  const key = { AWS_ACCESS_KEY_ID: 'AKTEST', AWS_SECRET_ACCESS_KEY: 'the-secret' }
  const cases: [string, string][] = [
    ['http://payloads', 'BLOB_URL: must be an address such as s3://'],
    ['s3://AK:the-secret@payloads', 'BLOB_URL: takes no key'],
    ['s3://payloads?regoin=eu', 'BLOB_URL: its query has endpoint, region, path_style and nothing else'],
    ['s3://p', 'BLOB_URL: names no bucket'],
    ['s3://payloads/a b', 'BLOB_URL: a prefix has'],
    [
      's3://payloads?endpoint=http://host/path',
      'BLOB_URL: the endpoint must be the address of a server alone',
    ],
    ['s3://payloads?path_style=no', 'BLOB_URL: path_style is true or false'],
  ]
  for (const [BLOB_URL, told] of cases) {
    const problems = problemsOf({ BLOB_URL, ...key }).join('\n')
    expect(problems).toContain(told)
    expect(problems).not.toContain('the-secret')
  }
  expect(problemsOf({ BLOB_URL: 's3://payloads' }).join('\n')).toContain(
    'AWS_SECRET_ACCESS_KEY: needed for BLOB_URL',
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

test('logins of callers are taken at a provider’s own address alone', () => {
  const allowed = { caller_logins: true, api_key: 'sk-1' }
  expect(problemsOf({}, { providers: [{ preset: 'openai', ...allowed }] })).toEqual([])
  for (const provider of [
    { preset: 'openai', base_url: 'https://proxy/v1' },
    { preset: 'ollama' },
    { preset: 'custom', base_url: 'https://a/v1' },
  ])
    expect(problemsOf({}, { providers: [{ ...provider, ...allowed }] })).toEqual([
      expect.stringContaining(
        "providers.0.caller_logins: a caller's own login is sent to the provider's official",
      ),
    ])
})

test('only a server that the operator names is said to take marks of a prompt cache', () => {
  const own = { preset: 'custom', base_url: 'https://a/v1', cache_marks: true }
  expect(problemsOf({}, { providers: [own] })).toEqual([])
  expect(problemsOf({}, { providers: [{ preset: 'openai', api_key: 'sk-1', cache_marks: true }] })).toEqual([
    expect.stringContaining('providers.0.cache_marks: what "openai" takes is known'),
  ])
})

test('only a server that the operator names is said to limit output by a name', () => {
  const limit = { max_tokens_field: 'max_completion_tokens' }
  expect(problemsOf({}, { providers: [{ preset: 'custom', base_url: 'https://a/v1', ...limit }] })).toEqual(
    [],
  )
  expect(problemsOf({}, { providers: [{ preset: 'openai', api_key: 'sk-1', ...limit }] })).toEqual([
    expect.stringContaining('providers.0.max_tokens_field: what "openai" takes is known'),
  ])
})

test('a key travels in one of the ways that its provider has', () => {
  const several = { preset: 'custom', base_url: 'https://a/v1', api_key: 'k' }
  const both = [several, { ...several, id: 'second', key_form: 'bearer' }]
  expect(problemsOf({}, { providers: both })).toEqual([])
  expect(problemsOf({}, { providers: [{ ...several, key_form: 'basic' }] })).toEqual([
    'providers.0.key_form: preset "custom" has no form "basic"; use bearer, or leave this out',
  ])
  const openai = { preset: 'openai', api_key: 'k', key_form: 'bearer' }
  expect(problemsOf({}, { providers: [openai] })).toEqual([
    'providers.0.key_form: preset "openai" has one way to send a key; leave this out',
  ])
})

test('a login of callers goes to one vendor alone, which may have several deployments', () => {
  const one = { preset: 'openai', caller_logins: true, api_key: 'sk-1' }
  expect(problemsOf({}, { providers: [one, { ...one, id: 'second' }] })).toEqual([])
  const two = [one, { preset: 'ollama', caller_logins: true }]
  expect(problemsOf({}, { providers: two }).join()).toContain('from all but one of openai, ollama')
})

test('a provider of the file takes the key of the environment when it has none, and never sends it elsewhere', () => {
  const providers = [
    { preset: 'openai' },
    { preset: 'openai', id: 'proxy', base_url: 'http://127.0.0.1:9/v1' },
  ]
  const config = read({ OPENAI_API_KEY: 'sk-1' }, { providers })
  expect(config.providers.map(({ api_key: key }) => key)).toEqual(['sk-1', undefined])
  expect(problemsOf({}, { providers })).toEqual([
    'providers.0.api_key: needed for preset "openai"; or set OPENAI_API_KEY',
  ])
})

test('a variable that is ignored is the key of no provider either, unless that names it', () => {
  const env = { OPENAI_API_KEY: 'of-another-server' }
  const ignored_variables = ['OPENAI_API_KEY']
  expect(problemsOf(env, { ignored_variables, providers: [{ preset: 'openai' }] })).toEqual([
    'providers.0.api_key: needed for preset "openai"; or set OPENAI_API_KEY',
  ])
  const named = { preset: 'openai', api_key: '${env:OPENAI_API_KEY}' }
  expect(read(env, { ignored_variables, providers: [named] }).providers[0]?.api_key).toBe('of-another-server')
})

test('printing shows the names of what is added to requests, and no value of it', () => {
  const additions = { headers: { 'X-Team': 'hush-1' }, query: { sig: 'hush-2' } }
  const shown = printConfig(
    read({}, { providers: [{ preset: 'custom', base_url: 'http://a/v1', ...additions }] }),
  )
  for (const name of ['X-Team', 'sig']) expect(shown).toContain(`"${name}": "[secret]"`)
  expect(shown).not.toContain('hush')
})

test('headers that would break a request are refused without their values', () => {
  const problems = problemsOf(
    {},
    {
      providers: [
        { preset: 'custom', base_url: 'http://a/v1', headers: { 'Content-Length': '1' } },
        { id: 'b', preset: 'custom', base_url: 'http://a/v1', headers: { 'x-key': 'hush\nhush' } },
        { id: 'c', preset: 'custom', base_url: 'http://a/v1', headers: { 'no name': 'hush' } },
      ],
    },
  ).join('\n')
  expect(problems).toContain('providers.0.headers.Content-Length')
  expect(problems).toContain('providers.1.headers.x-key')
  expect(problems).toContain('providers.2.headers.no name')
  expect(problems).not.toContain('hush')
})

test('printing shows no secret', () => {
  const shown = printConfig(
    read(
      {
        OPENAI_API_KEY: 'sk-secret-1',
        DATABASE_URL: 'postgres://me:hunter2@2hunter@db/x?sslpassword=hunter3',
        HEADRACE_BOOTSTRAP_KEY: 'k'.repeat(20),
      },
      { providers: [{ preset: 'custom', base_url: 'http://me:hunter4@a/v1', api_key: 'sk-secret-2' }] },
    ),
  )
  for (const secret of ['sk-secret', 'hunter', 'kkkk']) expect(shown).not.toContain(secret)
  expect(shown).toContain('[secret]')
})

test('a file that is not JSON, or is named and missing, says so', () => {
  expect(problemsOf({}, '{ "port": }').join()).toContain('headrace.config.json')
  expect(problemsOf({ HEADRACE_CONFIG: 'nowhere.json' }).join()).toContain('there is no file')
})

test('a trusted proxy is an address or a network, and a typo is not silently trusted by nobody', () => {
  const config = read({ HEADRACE_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,::1,' })
  expect(config.trustedProxies).toEqual(['127.0.0.1', '10.0.0.0/8', '::1'])
  for (const typo of ['10.0.0.0/88', 'proxy.internal', '10.0.0'])
    expect(problemsOf({ HEADRACE_TRUSTED_PROXIES: typo }).join()).toContain(`"${typo}" is no address`)
})

test('a host to fetch media from is a host, with a port or without, and no address of a page', () => {
  expect(read({}).fetchHosts).toEqual([])
  const hosts = ['minio.internal:9000', 'Files.example', '10.0.0.7', '[fd00::7]:80']
  expect(read({}, { fetch_hosts: hosts }).fetchHosts).toEqual(hosts)
  for (const typo of ['http://minio.internal', 'minio.internal/files', 'minio:', ''])
    expect(problemsOf({}, { fetch_hosts: [typo] }).join()).toContain('fetch_hosts.0: must be a host')
})

test('a host to post events to is a host, and the master key is a secret', () => {
  expect(read({}).callbackHosts).toEqual([])
  expect(read({}, { callback_hosts: ['hooks.internal:9000'] }).callbackHosts).toEqual(['hooks.internal:9000'])
  expect(problemsOf({}, { callback_hosts: ['https://hooks.internal'] }).join()).toContain('must be a host')
  expect(read({}).masterKey).toBeNull()
  const masterKey = 'the-master-key-of-the-operator'
  const config = read({ HEADRACE_MASTER_KEY: masterKey })
  expect(config.masterKey).toBe(masterKey)
  expect(printConfig(config)).not.toContain(masterKey)
  expect(problemsOf({ HEADRACE_MASTER_KEY: 'short' }).join()).toContain('HEADRACE_MASTER_KEY: a secret has')
  expect([read({}).isOwnDatabase, read({ DATABASE_URL: 'postgres://db/x' }).isOwnDatabase]).toEqual([
    true,
    false,
  ])
})

test('a base path is a path', () => {
  expect(read({ HEADRACE_BASE_PATH: '/ai/' }).basePath).toBe('/ai')
  expect(problemsOf({ HEADRACE_BASE_PATH: 'ai' }).join()).toContain('begin with a slash')
})

test('a provider’s name fits into a header', () => {
  const named = (name: string) => ({
    providers: [{ preset: 'custom', base_url: 'http://127.0.0.1:1', name }],
  })
  for (const name of ['Büro 2 (EU)', 'x-y.z']) expect(problemsOf({}, named(name))).toEqual([])
  for (const name of ['日本', 'Duck 🦆', 'a\r\nx: 1', 'a\u0000']) {
    expect(problemsOf({}, named(name)).join()).toContain('providers.0.name')
  }
})

test('the metrics have a token, and an address of their own where one is wanted', () => {
  expect(read({}).metrics).toEqual({ token: null, host: '127.0.0.1', port: null })
  const token = 'the-token-of-prometheus'
  const config = read(
    { HEADRACE_METRICS_TOKEN: token },
    { metrics_port: 9100, metrics_token: 'another-token-here' },
  )
  expect(config.metrics).toEqual({ token, host: '127.0.0.1', port: 9100 })
  expect(printConfig(config)).not.toContain(token)
  expect(problemsOf({ HEADRACE_METRICS_TOKEN: 'short', HEADRACE_METRICS_PORT: '70000' })).toEqual([
    'HEADRACE_METRICS_TOKEN: a secret has 16 to 512 printable characters and no spaces',
    'HEADRACE_METRICS_PORT: "70000" is not a port; use a number from 0 to 65535',
  ])
})

test('names and aliases of models are read, and what is wrong with them is told with its place', () => {
  const names = { smart: { groups: [[{ model: 'openai/gpt-4o', provider: 'openai', weight: 3 }]] } }
  const read_ = read({}, { names, aliases: { 'gpt-4o': 'openai/gpt-4o', clever: 'smart' } })
  expect(read_.names['smart']?.groups[0]?.[0]?.weight).toBe(3)
  expect(read_.aliases['clever']).toBe('smart')
  const problems = problemsOf(
    {},
    {
      names: { smart: { groups: [[{ model: 'a', share: 2 }]] }, empty: { groups: [] } },
      aliases: { smart: 'b', one: 'two', two: 'one', self: 'self', fine: 'one' },
    },
  ).join('\n')
  expect(problems).toContain('names.smart.groups.0.0')
  expect(problems).toContain('share')
  expect(problems).toContain('names.empty.groups')
  expect(problemsOf({}, { names, aliases: { smart: 'b' } })[0]).toContain('aliases.smart: is a name too')
  const cycles = problemsOf({}, { aliases: { one: 'two', two: 'one', self: 'self', fine: 'one' } })
  expect(cycles.map((line) => line.slice(line.indexOf('aliases.')))).toEqual([
    'aliases.one: leads back to itself (one → two → one); let one of them mean a model or a name',
    'aliases.two: leads back to itself (two → one → two); let one of them mean a model or a name',
    'aliases.self: leads back to itself (self → self); let one of them mean a model or a name',
  ])
})

test('a provider may offer the models of the file alone', () => {
  const providers = [{ preset: 'openai', api_key: 'k', only_models: true }]
  expect(read({}, { providers }).providers[0]?.only_models).toBe(true)
})

test('prices of audio are taken in one unit of time, and surcharges in one way each', () => {
  const priced = (prices: object) => problemsOf({}, { prices: { 'acme/hears': prices } }).join('\n')
  expect(
    priced({
      audio_per_second: '0.0001',
      per_channel: true,
      surcharges: {
        diarize: { percent: 12.5 },
        keyterms: { per_minute: '0.001' },
        entities: { per_hour: 0 },
      },
    }),
  ).toBe('')
  expect(priced({ audio_per_minute: 1, audio_per_hour: 60 })).toContain('one of the three')
  expect(priced({ service_tiers: { flex: { audio_per_minute: 1, audio_per_second: 1 } } })).toContain(
    'one of the three',
  )
  for (const wrong of [
    { diarize: { percent: 1_001 } },
    { diarize: { percent: -1 } },
    { diarize: { percent: '0.00001' } },
    { keyterms: { percent: 20, per_hour: 1 } },
    { keyterms: {} },
    { entities: 'unknown' },
    { speakers: { percent: 20 } },
  ])
    expect([wrong, priced({ surcharges: wrong })]).toEqual([wrong, expect.stringContaining('surcharges')])
})

test('destinations of broadcasts have defaults, and each fault names its member', () => {
  const traces = { name: 'traces', kind: 'otlp', url: 'https://otel.example.com/v1/traces' }
  const books = { name: 'books', kind: 'webhook', url: 'http://10.0.0.7/x', secret: '${env:BOOKS}' }
  const env = { BOOKS: 'a-secret-of-the-books' }
  expect(read({}).broadcasts).toEqual([])
  const config = read(env, { broadcasts: [traces, { ...books, headers: { 'x-key': '${env:BOOKS}' } }] })
  expect(config.broadcasts).toMatchObject([
    {
      ...traces,
      headers: {},
      secret: null,
      organizations: null,
      keys: null,
      sampling: 1,
      zdrCalls: 'figures',
    },
    { name: 'books', secret: env.BOOKS, headers: { 'x-key': env.BOOKS } },
  ])
  expect(printConfig(config)).not.toContain(env.BOOKS)
  for (const [broadcasts, problem] of [
    [[{ ...books, secret: undefined }], 'broadcasts.0.secret: needed for kind "webhook"'],
    [[{ ...traces, secret: env.BOOKS }], 'broadcasts.0.secret: signs webhooks only'],
    [[traces, traces], 'broadcasts.1.name: "traces" is used twice'],
    [[{ ...traces, url: 'ftp://x/y' }], 'broadcasts.0.url: must be an http:// or https:// address'],
    [[{ ...traces, sampling: 0 }], 'broadcasts.0.sampling'],
    [[{ ...traces, organizations: [] }], 'broadcasts.0.organizations'],
    [[{ ...traces, headers: { 'content-type': 'x' } }], 'broadcasts.0.headers'],
    [[{ ...traces, colour: 'red' }], 'colour'],
    [Array.from({ length: 9 }, (_, index) => ({ ...traces, name: `t${index}` })), 'broadcasts'],
  ] as const)
    expect(problemsOf(env, { broadcasts }).join('\n')).toContain(problem)
})

test('a region that is none, an ARN that is none and a key beside an identity are named', () => {
  const provider = (more: object) => ({ providers: [{ preset: 'amazon', region: 'us-east-1', ...more }] })
  const model = (upstream: string) => provider({ models: [{ id: 'a/b', upstream }] })
  const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6'
  expect(problemsOf({}, model(profile))).toEqual([])
  expect(problemsOf({}, provider({ region: 'mars-1' }))).toEqual([
    'providers.0.region: "mars-1" is no region of Amazon; use a name such as us-east-1',
  ])
  expect(problemsOf({ AWS_REGION: 'atlantis' }, { providers: [{ preset: 'amazon' }] })).toEqual([
    'providers.0.region: "atlantis" is no region of Amazon; use a name such as us-east-1, here or in AWS_REGION',
  ])
  for (const upstream of ['arn:aws:s3:::bucket', 'arn:aws:bedrock:nonsense'])
    expect(problemsOf({}, model(upstream)).join()).toStartWith(
      'providers.0.models.0.upstream: is no ARN of a model',
    )
  expect(problemsOf({}, provider({ api_key: 'k', identity: {} }))).toEqual([
    'providers.0.identity: has no use beside api_key; leave one of them out',
  ])
})

test('no secret of an identity is shown, and what names it is', () => {
  const identity = {
    access_key_id: 'AKIASHOWN',
    secret_access_key: 'hidden-secret-key',
    session_token: 'hidden-session',
    external_id: 'hidden-external',
    role_arn: 'arn:aws:iam::123456789012:role/shown',
  }
  const file = { providers: [{ preset: 'amazon', region: 'us-east-1', identity, models: [] }] }
  const shown = printConfig(read({}, file))
  expect(shown).not.toContain('hidden-')
  for (const plain of ['AKIASHOWN', 'role/shown']) expect(shown).toContain(plain)
})
