import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { CommandContext } from '../context.ts'
import { recordOrEmpty } from '../../json/values.ts'
import { findPreset } from '../../providers/registry.ts'
import { parseArguments, type Parsed } from '../arguments.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { printable } from '../paint.ts'
import { suggestionFor } from '../suggestion.ts'
import {
  changedSecrets,
  type ConfigAddition,
  mergeConfig,
  type MergedConfig,
  takenSecrets,
  writeConfig,
  writeSecrets,
} from './config-merge.ts'
import { describeAddition, describeKeys, describeRunning, type RunningProvider } from './import-report.ts'
import { carryKeys } from './key-import.ts'
import { readLitellmFile } from './litellm-import.ts'
import type { PriceMap } from './litellm-prices.ts'
import { type LitellmDatabase, openLitellm } from './litellm-repository.ts'
import { readTables } from './litellm-tables.ts'
import { Remarks } from './remarks.ts'
import { parseYaml } from './yaml-tree.ts'

const options = {
  database: { type: 'string' },
  prices: { type: 'string' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean' },
  replace: { type: 'boolean' },
  org: { type: 'string' },
} as const

/**
 * `headrace import litellm <config.yaml>`: another gateway's configuration, as far as this gateway has the same
 * settings.
 */
export async function runImport(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('import', args, options, 2)
  const [source, path] = parsed.words
  if (source === undefined) throw usageFailure('From what? Such as "import litellm config.yaml".', 'import')
  if (source !== 'litellm')
    throw usageFailure(`"${source}" cannot be imported from.${suggestionFor(source, ['litellm'])}`, 'import')
  if (path === undefined) throw usageFailure('Which file? Such as "import litellm config.yaml".', 'import')
  const url = parsed.text('database') ?? null
  const litellm = url === null ? null : await openLitellm(url)
  try {
    await importLitellm(resolve(context.cwd, path), litellm, { parsed, context })
  } finally {
    await litellm?.close()
  }
  return 0
}

interface Asked {
  parsed: Parsed
  context: CommandContext
}

async function importLitellm(path: string, litellm: LitellmDatabase | null, asked: Asked): Promise<void> {
  const { context } = asked
  const remarks = new Remarks()
  const tree = parseYaml(readText(path), basename(path))
  const file = readLitellmFile(
    tree,
    { env: context.env, hasDatabase: litellm !== null, map: readPriceMap(asked) },
    remarks,
  )
  const tables = litellm === null ? null : await readTables(litellm, file, remarks)
  const addition =
    tables === null
      ? file.addition
      : { ...file.addition, aliases: { ...file.addition.aliases, ...tables.aliases } }
  const target = resolve(context.cwd, context.env['HEADRACE_CONFIG'] || 'headrace.config.json')
  const replaces = asked.parsed.isOn('replace')
  const merged = mergeConfig(target, addition, { replaces })
  const changed = changedSecrets(dirname(target), file.secrets)
  const conflicts = [...merged.conflicts, ...changed]
  const taken = replaces ? [] : takenSecrets(merged, changed)
  if (taken.length > 0)
    throw new CommandFailure(
      `${taken.join(', ')}: there is another secret, which a new provider would send. Nothing was changed; move it away, or --replace puts what is imported in its place.`,
    )
  const running = readBack(target, merged, context)
  await requireConsent(target, merged, asked)
  const isDry = asked.parsed.isOn('dry-run')
  const database = litellm && tables ? { litellm, tables } : null
  const counts = await carryKeys(file, database, {
    context,
    remarks,
    isDry,
    organization: asked.parsed.text('org'),
  })
  if (!isDry) {
    writeSecrets(dirname(target), file.secrets, { replaces })
    if (merged.isChanged) writeConfig(target, merged)
  }
  context.write(
    describeAddition({ target, merged, addition, secrets: file.secrets, isDry, replaces, conflicts }),
  )
  context.write(describeRunning(running))
  const missing = missingVariables(addition, context)
  if (missing.length > 0) context.write(`Set these before the gateway starts: ${missing.join(', ')}\n`)
  if (counts) context.write(describeKeys(counts, isDry))
  for (const line of remarkLines(remarks, basename(path))) context.write(`${line}\n`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read: ${error instanceof Error ? error.message : 'unknown'}`)
  }
}

/** LiteLLM's map of prices, if the user named one. */
function readPriceMap({ parsed, context }: Asked): PriceMap {
  const named = parsed.text('prices')
  if (named === undefined) return {}
  try {
    return recordOrEmpty(JSON.parse(readText(resolve(context.cwd, named))))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(
      `${named} is no JSON object, as LiteLLM's model_prices_and_context_window.json is.`,
    )
  }
}

/**
 * Every provider that will run with the merged file, read as the gateway reads it. Throws CommandFailure when the
 * gateway would refuse the file.
 */
function readBack(target: string, { value }: MergedConfig, context: CommandContext): RunningProvider[] {
  try {
    const { providers } = context.readConfig({ draft: { path: target, value } })
    const written = Array.isArray(value['providers']) ? value['providers'].length : 0
    return providers.map(({ id, preset }, index) => {
      const { keyVariable = null, baseUrlVariable = null } = findPreset(preset) ?? {}
      return { id: id ?? preset, variable: index < written ? null : (keyVariable ?? baseUrlVariable) }
    })
  } catch (error) {
    const problems = error instanceof Error && 'problems' in error ? error.problems : null
    if (!Array.isArray(problems)) throw error
    throw new CommandFailure(
      `The gateway would refuse the file as it would be; nothing was changed:\n${problems.map((one) => `  ${printable(String(one))}`).join('\n')}`,
    )
  }
}

/** Throws CommandFailure when the import would add to an existing file and the user has not allowed it. */
async function requireConsent(
  target: string,
  merged: MergedConfig,
  { parsed, context }: Asked,
): Promise<void> {
  if (['dry-run', 'replace', 'yes'].some((name) => parsed.isOn(name))) return
  if (!merged.isChanged || merged.isNew) return
  const answer = await context.ask(`Add to ${target}? A copy of it is kept. [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandFailure(`${target} was left as it is; --yes adds to it without asking.`)
}

/** Variables that the configuration needs and this environment lacks. */
function missingVariables({ providers }: ConfigAddition, { env }: CommandContext): string[] {
  const named = [...JSON.stringify(providers).matchAll(/"\$\{env:(\w+)\}"/g)].map(([, name = '']) => name)
  const own = providers.flatMap(({ preset, api_key: key, base_url: url }) =>
    key === undefined && url === undefined ? (findPreset(preset)?.keyVariable ?? []) : [],
  )
  return [...new Set([...named, ...own])].filter((name) => !env[name])
}

function* remarkLines(remarks: Remarks, file: string): Generator<string> {
  const found = remarks.sorted()
  if (found.length === 0) return
  yield `\nNot carried, or not as it was (${found.length}):`
  for (const { line, subject, message } of found)
    yield `  ${line === null ? 'database' : `${file}:${line}`}  ${printable(subject)}: ${printable(message)}`
}
