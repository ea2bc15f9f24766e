import type { Finding, Source, SourceImport } from './sources.ts'
import { isTest } from './sources.ts'

/** The layers of docs/style.md: a file imports from its own folder or from a lower number. */
const layerOf: Readonly<Record<string, number>> = {
  core: 0,
  json: 1,
  canonical: 2,
  storage: 2,
  telemetry: 2,
  formats: 3,
  transport: 3,
  catalog: 3,
  audio: 3,
  providers: 4,
  access: 4,
  routing: 4,
  billing: 4,
  files: 4,
  delivery: 4,
  execution: 5,
  insight: 5,
  batches: 6,
  http: 7,
  cli: 8,
}

/** The only folder or file that may import a package, so that replacing the package changes only that place. */
const ownersOf: Readonly<Record<string, readonly string[]>> = {
  hono: ['src/http/', 'simulator/'],
  'wasm-media-encoders': ['src/audio/', 'simulator/'],
  'mpg123-decoder': ['src/audio/'],
  '@msgpack/msgpack': ['src/providers/fish-audio/', 'simulator/'],
  pino: ['src/telemetry/'],
  // Bedrock's requests are signed as those of a bucket.
  aws4fetch: ['src/storage/', 'src/transport/'],
  // Amazon's frames, with their checksums.
  '@smithy/eventstream-codec': ['src/formats/text/streams/'],
  // Statements that an account's own key signs, for Google and Snowflake.
  jose: ['src/transport/'],
  'prom-client': ['src/telemetry/'],
  '@opentelemetry': ['src/telemetry/'],
  'bun:sqlite': ['src/storage/'],
  'bun:ffi': ['src/storage/'],
  '@pydantic/genai-prices': ['scripts/'],
  // For importing another gateway's configuration: remarks name the line of each value.
  yaml: ['src/cli/import/'],
  zod: [
    'src/formats/',
    'src/http/',
    'src/config-broadcasts.ts',
    'src/config-file.ts',
    'src/config-headers.ts',
    'src/config-identity.ts',
    'src/config-names.ts',
    'src/config-prices.ts',
  ],
}

/** Files that assemble the parts and so may import all of them; only commands start them. */
const composing: ReadonlySet<string> = new Set([
  'main.ts',
  'gateway.ts',
  'gateway-core.ts',
  'edge.ts',
  'telling.ts',
  'insights.ts',
  'stores.ts',
])
const outwardEdges = [
  // With no provider configured the gateway starts the simulator; `headrace simulator` starts it alone.
  { from: 'src/gateway.ts', to: 'simulator/server.ts' },
  { from: 'src/main.ts', to: 'simulator/server.ts' },
  // The version is stated only once, where npm reads it.
  { from: 'src/gateway-core.ts', to: 'package.json' },
]

const configuring: ReadonlySet<string> = new Set([
  'config.ts',
  'config-broadcasts.ts',
  'config-file.ts',
  'config-headers.ts',
  'config-identity.ts',
  'config-names.ts',
  'config-providers.ts',
  'config-payloads.ts',
  'config-prices.ts',
])
/** The folders that the configuration may import besides the schema library. */
const configFolders: ReadonlySet<string> = new Set(['core', 'json', 'canonical', ...configuring])
/** The one file that renders a schema's issues; it imports nothing else. */
const issueRenderer = 'src/formats/schema-issue.ts'

/**
 * Files without SQL that still need storage: the units of batches, around which tests stage crashes, and the blobs of
 * batches and files.
 */
const storing: ReadonlySet<string> = new Set([
  'src/batches/batch-stores.ts',
  'src/batches/committer.ts',
  'src/batches/results/payloads.ts',
  'src/files/file-store.ts',
  'src/execution/cached/response-cache.ts',
])

/** Every import that does not point downwards, and every package outside its folder. */
export function checkImports(sources: readonly Source[]): Finding[] {
  const findings: Finding[] = []
  for (const source of sources) {
    for (const edge of source.imports) {
      const broken = brokenEdge(source.file, edge) ?? brokenPackage(source.file, edge)
      if (broken !== null) findings.push({ file: source.file, line: edge.line, ...broken })
    }
  }
  return findings
}

type Broken = Pick<Finding, 'rule' | 'problem' | 'remedy'>

function brokenEdge(file: string, edge: SourceImport): Broken | null {
  const { target, specifier } = edge
  if (target === null) return null
  if (!/\.(ts|json|sql|html|txt)$/.test(target)) {
    return {
      rule: 'extension',
      problem: `imports "${specifier}" without its extension`,
      remedy: 'Write the path as it is on disk, with .ts: Bun and the type checker then agree on the file.',
    }
  }
  const apart = brokenProgramBorder(file, target) ?? brokenVendor(file, target)
  if (apart !== null || !file.startsWith('src/') || isTest(file)) return apart
  return brokenLayer(file, target) ?? brokenStep(file, target)
}

function brokenProgramBorder(file: string, target: string): Broken | null {
  if (file.startsWith('simulator/') && target.startsWith('src/')) {
    return {
      rule: 'simulator',
      problem: `the simulator imports ${target}`,
      remedy:
        'Write it from the provider documentation instead: a fake that shares our code shares our mistakes.',
    }
  }
  if (file.startsWith('src/') && !target.startsWith('src/') && !isTest(file)) {
    if (outwardEdges.some(({ from, to }) => file === from && target === to)) return null
    return {
      rule: 'src-border',
      problem: `imports ${target}, which is outside src/`,
      remedy:
        'What runs in production lives in src/; only what puts it together reaches out, for the sandbox and the version.',
    }
  }
  return null
}

/** The folders of the one path, each of which may import those before it. */
const pathFolders: readonly string[] = [
  'resources',
  'call',
  'preparing',
  'attempts',
  'settling',
  'streams',
  'fetched',
  'modalities',
  'items',
  'cached',
  'compaction',
]

/** A step of the path gives its result to its caller, and calls no step that comes after it. */
function brokenStep(file: string, target: string): Broken | null {
  const [from, to] = [file, target].map((each) => /^src\/execution\/([\w-]+)\//.exec(each)?.[1])
  if (from === undefined || to === undefined || pathFolders.indexOf(to) <= pathFolders.indexOf(from))
    return null
  return {
    rule: 'layer',
    problem: `imports ${target}, which is of a later step`,
    remedy: `Return what the later step needs. The folders of src/execution in order: ${pathFolders.join(', ')}.`,
  }
}

/**
 * Providers whose API or models others offer too: neighbouring folders build on them, and so do tests of every part.
 */
const shared: ReadonlySet<string> = new Set(['openai', 'anthropic', 'google-ai-studio', 'amazon-bedrock'])

/** Only its line in the index may import a provider's folder, so that deleting both deletes the provider. */
function brokenVendor(file: string, target: string): Broken | null {
  const slug = /^src\/providers\/([\w-]+)\//.exec(target)?.[1]
  if (slug === undefined || file === 'src/providers/index.ts' || file.startsWith(`src/providers/${slug}/`))
    return null
  if (shared.has(slug) && (file.startsWith('src/providers/') || isTest(file))) return null
  return {
    rule: 'vendor',
    problem: `imports ${target}`,
    remedy: 'Ask the registry, or move what is only about this provider, tests too, into its folder.',
  }
}

function brokenLayer(file: string, target: string): Broken | null {
  const from = placeOf(file)
  const to = placeOf(target)
  const format = brokenFormat(file, target)
  if (format !== null) return format
  if (composing.has(from) || from === to) return null
  if (configuring.has(from) && (configFolders.has(to) || target === issueRenderer)) return null
  if (configuring.has(to) || composing.has(to)) {
    return {
      rule: 'layer',
      problem: `imports ${target}`,
      remedy:
        'Take your own options as a parameter; main.ts reads the configuration and the gateway passes them.',
    }
  }
  if (configuring.has(from)) {
    return {
      rule: 'layer',
      problem: `${from} imports ${target}`,
      remedy: 'The configuration knows core, json and canonical only; the gateway turns it into parts.',
    }
  }
  if (to === 'storage' && !file.endsWith('-repository.ts') && !storing.has(file)) {
    return {
      rule: 'storage',
      problem: `imports ${target}`,
      remedy: 'Only files named *-repository.ts import storage; move the statement to one and call it.',
    }
  }
  const fromLayer = layerOf[from]
  const toLayer = layerOf[to]
  if (fromLayer === undefined || toLayer === undefined) {
    return {
      rule: 'layer',
      problem: `imports ${target}; src/${fromLayer === undefined ? from : to} has no layer`,
      remedy: 'Put the file in one of the folders of the layer table, or add the folder to it.',
    }
  }
  if (toLayer < fromLayer) return null
  return {
    rule: 'layer',
    problem: `${from} (layer ${fromLayer}) imports ${target} (layer ${toLayer})`,
    remedy: 'Imports point downwards. Take what you need as a parameter, or move it to a lower layer.',
  }
}

/** A folder of `src/formats` with one wire format; the pattern captures the format's name. */
const formatFolder =
  /^src\/formats\/(?:text\/)?(chat|messages|responses|gemini|embeddings|rerank|completions)\//

/** The file of a format from which providers take its interface, with their differences as data. */
const formatFile = /\/quirks\.ts$/

/**
 * A provider's own files that may read parts of the format it made, because its sound is inside the format's answers.
 */
const insideFormat = { folder: 'src/providers/google-ai-studio/', format: 'gemini' }

/** A format imports no other format, and a provider imports only the interface of a format. */
function brokenFormat(file: string, target: string): Broken | null {
  const [, format] = formatFolder.exec(target) ?? []
  if (format === undefined) return null
  const [, own] = formatFolder.exec(file) ?? []
  if (own !== undefined && own !== format) {
    return {
      rule: 'format',
      problem: `the format ${own} imports ${target}`,
      remedy:
        'Formats meet in the conversation of canonical/text; what both need stands in src/formats/text.',
    }
  }
  const isInside = file.startsWith(insideFormat.folder) && format === insideFormat.format
  if (!file.startsWith('src/providers/') || formatFile.test(target) || isInside) return null
  return {
    rule: 'format',
    problem: `imports ${target}`,
    remedy: `Take the interface from the format's quirks.ts, and say as data how the provider departs from it.`,
  }
}

/** The folder below src, or the file name for files directly in it. */
function placeOf(file: string): string {
  return file.split('/')[1] ?? file
}

function brokenPackage(file: string, edge: SourceImport): Broken | null {
  if (edge.target !== null || isTest(file)) return null
  if (!file.startsWith('src/') && !file.startsWith('simulator/')) return null
  const name = packageOf(edge.specifier)
  const owners = ownersOf[name] ?? ownersOf[name.split('/')[0] ?? name]
  if (owners === undefined) {
    if (name.startsWith('node:') || name === 'bun') return null
    return {
      rule: 'package',
      problem: `imports the package ${name}, which has no owner`,
      remedy: 'Name its one folder in test/tidy/imports.ts, with a sentence of reason in the commit.',
    }
  }
  if (composing.has(placeOf(file)) || owners.some((owner) => file.startsWith(owner))) return null
  return {
    rule: 'package',
    problem: `imports ${name}, which belongs to ${owners.join(', ')}`,
    remedy: 'Ask that folder for what you need, so that the package can be replaced in one place.',
  }
}

/** `@scope/name` or `name`, without the path inside the package. */
function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier)
}

/** One finding per import cycle, at its alphabetically first file. */
export function checkCycles(sources: readonly Source[]): Finding[] {
  const targets = new Map(sources.map((source) => [source.file, source.imports]))
  const state = new Map<string, 'open' | 'done'>()
  const findings: Finding[] = []
  const trail: string[] = []
  const visit = (file: string) => {
    state.set(file, 'open')
    trail.push(file)
    for (const { target } of targets.get(file) ?? []) {
      if (target === null || !targets.has(target)) continue
      if (state.get(target) === 'open') findings.push(cycle(trail.slice(trail.indexOf(target))))
      else if (!state.has(target)) visit(target)
    }
    trail.pop()
    state.set(file, 'done')
  }
  for (const file of targets.keys()) if (!state.has(file)) visit(file)
  return findings
}

function cycle(files: readonly string[]): Finding {
  return {
    rule: 'cycle',
    file: files.toSorted()[0] ?? '',
    line: 1,
    problem: `import cycle: ${[...files, files[0]].join(' → ')}`,
    remedy: 'Move what both need to a third file, or pass one of them to the other as a parameter.',
  }
}
