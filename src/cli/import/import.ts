import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { AdoptedKey } from '../../access/keys.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { recordOrEmpty } from '../../json/values.ts'
import { findPreset } from '../../providers/registry.ts'
import { parseArguments, type Parsed } from '../arguments.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { findOrganization, withStorage } from '../local-storage.ts'
import { printable } from '../paint.ts'
import { suggestionFor } from '../suggestion.ts'
import {
  changedSecrets,
  type ConfigAddition,
  mergeConfig,
  type MergedConfig,
  writeConfig,
  writeSecrets,
} from './config-merge.ts'
import {
  describeAddition,
  describeKeys,
  describeRunning,
  type KeyCounts,
  type RunningProvider,
} from './import-report.ts'
import { type ImportedFile, masterKeyOf, readLitellmFile } from './litellm-import.ts'
import { adoptKey, type KeyContext } from './litellm-keys.ts'
import type { PriceMap } from './litellm-prices.ts'
import { type LitellmDatabase, openLitellm } from './litellm-repository.ts'
import { createScope } from './litellm-scope.ts'
import { readTeamAliases, readTeams } from './litellm-teams.ts'
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
  const merged = mergeConfig(target, addition)
  const running = readBack(target, merged, context)
  await requireConsent(target, merged, { file, asked })
  const counts = await carryKeys(file, litellm && tables ? { litellm, tables } : null, { ...asked, remarks })
  const isDry = asked.parsed.isOn('dry-run')
  if (!isDry) writeFiles(target, merged, file)
  context.write(describeAddition({ target, merged, addition, secrets: file.secrets, isDry }))
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

interface Tables {
  context: Omit<KeyContext, 'organizationId' | 'remarks'>
  aliases: Record<string, string>
}

/** All of LiteLLM's database except the keys. */
async function readTables(litellm: LitellmDatabase, file: ImportedFile, remarks: Remarks): Promise<Tables> {
  const [teams, budgets, models, stored] = [
    await litellm.table('LiteLLM_TeamTable'),
    await litellm.table('LiteLLM_BudgetTable'),
    await litellm.table('LiteLLM_ModelTable'),
    await litellm.table('LiteLLM_ProxyModelTable'),
  ]
  const { names, aliases } = file.addition
  const ofTeams = readTeamAliases({ teams, models }, { names, aliases }, remarks)
  const scope = createScope({ names, aliases: { ...aliases, ...ofTeams } }, file.deployments)
  for (const row of stored)
    remarks.aboutRow(
      `model "${String(row['model_name'])}"`,
      'is not carried: the database has it encrypted; name it in model_list',
    )
  for (const table of ['LiteLLM_UserTable', 'LiteLLM_OrganizationTable', 'LiteLLM_EndUserTable'] as const) {
    const budgeted = (await litellm.table(table)).filter(
      (row) => row['max_budget'] != null || row['budget_id'] != null,
    )
    if (budgeted.length > 0)
      remarks.aboutRow(
        table,
        `its budgets are not carried (${budgeted.length}): budgets are those of keys here`,
      )
  }
  return {
    context: {
      teams: readTeams(teams, { scope, remarks }),
      budgets: new Map(budgets.map((row) => [String(row['budget_id']), row])),
      scope,
    },
    aliases: ofTeams,
  }
}

/** Throws CommandFailure when the import would change existing settings and the user has not allowed it. */
async function requireConsent(
  target: string,
  merged: MergedConfig,
  { file, asked: { parsed, context } }: { file: ImportedFile; asked: Asked },
): Promise<void> {
  if (parsed.isOn('dry-run') || parsed.isOn('replace')) return
  const conflicts = [...merged.conflicts, ...changedSecrets(dirname(target), file.secrets)]
  if (conflicts.length > 0)
    throw new CommandFailure(
      `${target} has these otherwise: ${conflicts.join(', ')}. Nothing was changed; --replace puts what is imported in their place.`,
    )
  if (!merged.isChanged || merged.isNew || parsed.isOn('yes')) return
  const answer = await context.ask(`Add to ${target}? A copy of it is kept. [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandFailure(`${target} was left as it is; --yes adds to it without asking.`)
}

async function carryKeys(
  file: ImportedFile,
  database: { litellm: LitellmDatabase; tables: Tables } | null,
  asked: Asked & { remarks: Remarks },
): Promise<KeyCounts | null> {
  const { parsed, context, remarks } = asked
  const { masterKey } = file
  if (masterKey === null && database === null) return null
  try {
    const counts: KeyCounts = { added: 0, known: 0, former: 0, disabled: 0, expired: 0, refused: 0 }
    const carry = async (storage: CliStorage) => {
      const { organizationId } = await findOrganization(storage, parsed.text('org'))
      const adopt = (keys: readonly AdoptedKey[]) =>
        adoptAll(keys, { storage, counts, isDry: parsed.isOn('dry-run') })
      if (masterKey !== null) {
        remarks.about(
          masterKey.value,
          'is carried as a key that asks for models; keys that manage: npx headrace keys create --management',
        )
        await adopt([masterKeyOf(masterKey.secret, organizationId)])
      }
      if (database) await carryRows(database, { organizationId, remarks, counts, adopt })
    }
    await withStorage(context, carry, { mayLackFile: true })
    return counts
  } catch (error) {
    // Without LiteLLM's database only the configuration is imported; the first start needs it before any keys exist.
    if (!(error instanceof CommandFailure) || database !== null || masterKey === null) throw error
    remarks.about(
      masterKey.value,
      'is not carried yet: start the gateway once (npx headrace serve), then import again',
    )
    return null
  }
}

interface Carrying {
  organizationId: string
  remarks: Remarks
  counts: KeyCounts
  adopt: (keys: readonly AdoptedKey[]) => Promise<void>
}

async function carryRows(
  { litellm, tables }: { litellm: LitellmDatabase; tables: Tables },
  { organizationId, remarks, counts, adopt }: Carrying,
): Promise<void> {
  for await (const page of litellm.keys()) {
    const keys = page.map((row) => adoptKey(row, { ...tables.context, organizationId, remarks }))
    counts.refused += keys.filter((key) => key === null).length
    await adopt(keys.flatMap((key) => key ?? []))
  }
}

async function adoptAll(
  keys: readonly AdoptedKey[],
  { storage, counts, isDry }: { storage: CliStorage; counts: KeyCounts; isDry: boolean },
): Promise<void> {
  const { present, former } = await storage.keys.findAdopted(keys.map(({ keyHash }) => keyHash))
  if (!isDry) await storage.keys.adopt(keys)
  const nowMs = Date.now()
  for (const { keyHash, disabled, expiresAtMs } of keys) {
    if (present.has(keyHash)) counts.known += 1
    else if (former.has(keyHash)) counts.former += 1
    else {
      counts.added += 1
      if (disabled) counts.disabled += 1
      else if (expiresAtMs !== null && expiresAtMs <= nowMs) counts.expired += 1
    }
  }
}

function writeFiles(target: string, merged: MergedConfig, { secrets }: ImportedFile): void {
  writeSecrets(dirname(target), secrets)
  if (merged.isChanged) writeConfig(target, merged)
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
