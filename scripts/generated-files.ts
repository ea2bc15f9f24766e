import { z } from 'zod'
import { configFileSchema } from '../src/config-file.ts'
import { recordOrEmpty } from '../src/json/values.ts'
import type { Preset } from '../src/providers/define-provider.ts'
import { presets } from '../src/providers/registry.ts'
import { frameworksTable } from '../test/clients/frameworks.ts'
import { fidelityDocument } from '../test/fidelity/document.ts'
import { audioDocument } from './audio-page.ts'
import { dashboardContract } from './dashboard-contract.ts'
import { openApiDocument } from './openapi-document.ts'
import { renderPricePackage } from './price-package.ts'

type Json = Record<string, unknown>

const schemaPath = 'docs/config.schema.json'
const configurationPath = 'docs/configuration.md'
const clientsPath = 'docs/clients.md'
const readmePath = 'README.md'
const pricesPath = 'src/catalog/prices/price-package.gen.ts'
const openApiPath = 'src/http/openapi.gen.json'
const dashboardTypesPath = 'dashboard/src/api/openapi.gen.ts'

/** Every generated file with its content; `read` gives a file that is there, of which only marked parts are replaced. */
export function generatedFiles(read: (path: string) => string): { path: string; content: string }[] {
  const schema = configSchema()
  const api = openApiDocument()
  const providers = providersTable()
  const page = withSections(configurationPath, read(configurationPath), {
    file: membersTable(schema),
    providers,
    addresses: addressesTable(),
  })
  return [
    { path: schemaPath, content: formatted(schema) },
    { path: configurationPath, content: page },
    { path: readmePath, content: withSections(readmePath, read(readmePath), { providers }) },
    {
      path: clientsPath,
      content: withSections(clientsPath, read(clientsPath), { frameworks: frameworksTable() }),
    },
    { path: pricesPath, content: renderPricePackage(presets) },
    { path: 'docs/fidelity.md', content: fidelityDocument() },
    { path: 'docs/audio.md', content: audioDocument() },
    { path: openApiPath, content: `${JSON.stringify(api, null, 2)}\n` },
    { path: dashboardTypesPath, content: dashboardContract(api) },
  ]
}

/** The formatter's width; it puts a list of plain values on one line where that fits. */
const columns = 110

function formatted(value: unknown): string {
  const json = JSON.stringify(value, null, 2).replaceAll(
    /^(.*)\[\n((?:\s+(?:"[^"]*"|[\d.]+),?\n)+)\s+\](,?)$/gm,
    (block: string, before: string, list: string, after: string) => {
      const line = `${before}[${list.trim().replaceAll(/,\n\s+/g, ', ')}]${after}`
      return line.length <= columns ? line : block
    },
  )
  return `${json}\n`
}

function configSchema(): Json {
  // `input`: what a person may write, so members with a default are not required.
  const schema = z.toJSONSchema(configFileSchema, { io: 'input', unrepresentable: 'any' }) as Json
  const provider = recordOrEmpty(
    recordOrEmpty(recordOrEmpty(recordOrEmpty(schema['properties'])['providers'])['items'])['properties'],
  )
  const preset = recordOrEmpty(provider['preset'])
  // The schema in the code names no provider; the list is added here, for editors and the page.
  preset['enum'] = presets.map(({ slug }) => slug)
  delete preset['pattern']
  return { ...schema, title: 'Headrace configuration file' }
}

function membersTable(schema: Json): string {
  const rows = membersOf(schema, '').map(
    ({ path, type, description }) => `| \`${path}\` | ${type} | ${description} |`,
  )
  return ['| Member | Type | Meaning |', '|---|---|---|', ...rows].join('\n')
}

interface Member {
  path: string
  type: string
  description: string
}

function membersOf(schema: Json, prefix: string): Member[] {
  return Object.entries(recordOrEmpty(schema['properties'])).flatMap(([name, value]) => {
    const member = recordOrEmpty(value)
    const path = `${prefix}${name}`
    const items = recordOrEmpty(member['items'])
    const values = recordOrEmpty(member['additionalProperties'])
    const own = { path, type: typeOf(member), description: descriptionOf(member, path) }
    // The same members as those of the top level's `prices`, which stand once.
    if (path === 'providers[].models[].prices')
      return [{ ...own, description: `${own.description} As \`prices.*\`.` }]
    if (items['properties']) return [own, ...membersOf(items, `${path}[].`)]
    if (values['properties']) return [own, ...membersOf(values, `${path}.*.`)]
    return [own, ...membersOf(member, `${path}.`)]
  })
}

function typeOf(member: Json): string {
  if (Array.isArray(member['enum'])) return member['enum'].map((value) => `\`${String(value)}\``).join(', ')
  if (Array.isArray(member['anyOf']))
    return member['anyOf'].map((option) => typeOf(recordOrEmpty(option))).join(' or ')
  if (Array.isArray(member['type'])) return member['type'].join(' or ')
  if (member['type'] === 'array') return `list of ${typeOf(recordOrEmpty(member['items']))}`
  return typeof member['type'] === 'string' ? member['type'] : 'any'
}

/** Meanings that the schema leaves to the environment variable of the same setting, or to the name. */
const meanings: Readonly<Record<string, string>> = {
  $schema: 'For editors: the schema of this file',
  host: 'As `HEADRACE_HOST`',
  port: 'As `HEADRACE_PORT`',
  data: 'As `HEADRACE_DATA`',
  database_url: 'As `DATABASE_URL`',
  blob_url: 'As `BLOB_URL`',
  base_path: 'As `HEADRACE_BASE_PATH`',
  trusted_proxies: 'As `HEADRACE_TRUSTED_PROXIES`',
  log_level: 'As `HEADRACE_LOG_LEVEL`',
  role: 'As `HEADRACE_ROLE`',
  metrics_token: 'As `HEADRACE_METRICS_TOKEN`, best as `${env:NAME}` or `${file:path}`',
  metrics_host: 'As `HEADRACE_METRICS_HOST`',
  metrics_port: 'As `HEADRACE_METRICS_PORT`',
  providers: 'The deployments: a provider with one credential and address each',
  'providers[].base_url':
    "The provider's address up to and with its version; needed where the preset has none",
  'providers[].api_key': 'The credential, best as `${env:NAME}` or `${file:path}`',
  'providers[].region': 'Shown in metadata; deployments of two regions fail apart',
  'providers[].weight': 'Share of the traffic among equal endpoints.',
  'providers[].models': 'Models that are not found by asking, and what is different about those that are',
  'providers[].models[].context_length': 'Tokens of prompt and output together',
  'providers[].models[].output_tokens_max': 'Most tokens of one answer',
  'providers[].data_policy': 'What the provider does with data, for requests and policies that ask',
  'providers[].data_policy.zdr': 'It keeps nothing',
  'providers[].data_policy.trains': 'It may train on requests',
  'providers[].data_policy.stores': 'It stores requests for a time',
}

function descriptionOf(member: Json, path: string): string {
  const own = member['description']
  const text = typeof own === 'string' ? own : (meanings[path] ?? '')
  const byDefault = member['default']
  const isShown = typeof byDefault === 'number' || typeof byDefault === 'string'
  return `${text}${isShown ? ` Default ${byDefault}.` : ''}`.trim().replaceAll('|', '\\|')
}

const shown = (has: unknown) => (has === undefined ? '' : 'yes')

function providersTable(): string {
  const rows = presets
    .filter((preset) => !preset.isSimulator)
    .map((preset) => {
      const { slug, name, keyVariable, baseUrlVariable, adapters } = preset
      const variable = keyVariable ?? baseUrlVariable
      const offers = [adapters.language, adapters.embedding, adapters.transcription, adapters.speech].map(
        shown,
      )
      return `| ${name} | \`${slug}\` | ${variable ? `\`${variable}\`` : 'configuration file'} | ${offers.join(' | ')} | ${statusOf(preset)} |`
    })
  const headers = [
    'Provider',
    'Preset',
    'Switched on by',
    'Chat',
    'Embeddings',
    'Speech to text',
    'Text to speech',
    'Status',
  ]
  return [`| ${headers.join(' | ')} |`, '|---|---|---|---|---|---|---|---|', ...rows].join('\n')
}

/** The status of a provider's text; where it has none, that of its sound. */
function statusOf({ status, adapters, recordedAudio }: Preset): string {
  if (adapters.language ?? adapters.embedding) return status
  const kinds = (['transcription', 'speech'] as const).filter((kind) => adapters[kind] !== undefined)
  const recorded = kinds.filter((kind) => recordedAudio.includes(kind))
  if (recorded.length === 0) return 'documented only'
  return recorded.length === kinds.length ? 'recorded' : `recorded: ${recorded.join(', ')}`
}

/** Where each provider is asked unless the operator says otherwise. */
function addressesTable(): string {
  const rows = presets
    .filter(({ isSimulator, baseUrl }) => !isSimulator && baseUrl !== null)
    .map(({ slug, baseUrl }) => `| \`${slug}\` | \`${baseUrl}\` |`)
  return ['| Preset | Address |', '|---|---|', ...rows].join('\n')
}

/** The page with the parts between its marks replaced. Throws when marks are missing. */
function withSections(path: string, page: string, parts: Readonly<Record<string, string>>): string {
  let result = page
  for (const [name, content] of Object.entries(parts)) {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`]
    const from = result.indexOf(begin)
    const to = result.indexOf(end)
    if (from < 0 || to < from) throw new Error(`${path} has no part marked ${begin} … ${end}`)
    result = `${result.slice(0, from + begin.length)}\n${content}\n${result.slice(to)}`
  }
  return result
}
