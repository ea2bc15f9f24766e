import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { OperatorNames } from '../../catalog/operator-names.ts'
import { isRecord, recordOrEmpty } from '../../json/values.ts'
import { CommandFailure } from '../failure.ts'
import type { ImportedProvider } from './litellm-deployments.ts'

/** The additions of an import to the configuration. */
export interface ConfigAddition extends OperatorNames {
  providers: readonly ImportedProvider[]
  /** Variables that must not switch a provider on. */
  ignoredVariables: readonly string[]
}

/** The merged configuration file, and its differences from the present one. */
export interface MergedConfig {
  value: Readonly<Record<string, unknown>>
  text: string
  isNew: boolean
  isChanged: boolean
  /** Entries that the file has otherwise than the import, such as `names: "smart"`. */
  conflicts: readonly string[]
  /** The providers that the file did not have. */
  added: readonly unknown[]
}

/** Which of two different entries of one name stays: the file's or the import's. */
export interface MergeOptions {
  replaces: boolean
}

/** Merges an import into the file at that path. Throws CommandFailure when the file is not a JSON object. */
export function mergeConfig(
  path: string,
  addition: ConfigAddition,
  { replaces }: MergeOptions,
): MergedConfig {
  const before = readFile(path)
  const conflicts: string[] = []
  const merging = { addition, conflicts, replaces }
  const { providers, added } = mergeProviders(
    Array.isArray(before['providers']) ? before['providers'] : [],
    merging,
  )
  const { names: _names, aliases: _aliases, ignored_variables: ignored, ...others } = before
  const ignoredVariables = [
    ...new Set([...(Array.isArray(ignored) ? ignored : []), ...addition.ignoredVariables]),
  ]
  const after = {
    ...others,
    ...(ignoredVariables.length > 0 ? { ignored_variables: ignoredVariables } : {}),
    ...(providers.length > 0 ? { providers } : {}),
    ...mergeRecord('names', before, merging),
    ...mergeRecord('aliases', before, merging),
  }
  return {
    value: after,
    text: `${JSON.stringify(after, null, 2)}\n`,
    isNew: !existsSync(path),
    isChanged: !isDeepStrictEqual(before, plain(after)),
    conflicts,
    added,
  }
}

/** The file as written, with references to secrets instead of the secrets. */
function readFile(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {}
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (isRecord(value)) return value
  } catch {
    // Told below.
  }
  throw new CommandFailure(
    `${path} is no JSON object, so nothing can be added to it. See "npx headrace doctor".`,
  )
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** A provider without an id has its preset as its id. */
function idOf(provider: unknown): unknown {
  const { id, preset } = recordOrEmpty(provider)
  return id ?? preset
}

interface Merging extends MergeOptions {
  addition: ConfigAddition
  conflicts: string[]
}

function mergeProviders(
  before: readonly unknown[],
  { addition: { providers }, conflicts, replaces }: Merging,
): { providers: unknown[]; added: unknown[] } {
  const added = new Map<unknown, unknown>(providers.map((provider) => [provider.id, plain(provider)]))
  const kept = before.map((one) => {
    const id = idOf(one)
    const ours = added.get(id)
    added.delete(id)
    if (ours === undefined || isDeepStrictEqual(one, ours)) return one
    const both = withNewModels(one, ours)
    if (areAlike(both, withNewModels(ours, one))) return both
    conflicts.push(`providers: "${String(id)}"`)
    return replaces ? ours : both
  })
  return { providers: [...kept, ...added.values()], added: [...added.values()] }
}

function modelsOf(provider: unknown): unknown[] {
  const { models } = recordOrEmpty(provider)
  return Array.isArray(models) ? models : []
}

/** Whether two providers are the same but for the order of their models. */
function areAlike(one: unknown, ours: unknown): boolean {
  const [first, second] = [one, ours].map((each) => ({
    ...recordOrEmpty(each),
    models: modelsOf(each)
      .map((model) => JSON.stringify(model))
      .toSorted(),
  }))
  return isDeepStrictEqual(first, second)
}

/** The provider as the file has it, with the models that only the import has: a name may mean one of them. */
function withNewModels(one: unknown, ours: unknown): unknown {
  const present = modelsOf(one)
  const known = new Set(present.map((model) => recordOrEmpty(model)['id'] ?? model))
  const fresh = modelsOf(ours).filter((model) => !known.has(recordOrEmpty(model)['id'] ?? model))
  return fresh.length === 0 ? one : { ...recordOrEmpty(one), models: [...present, ...fresh] }
}

const other = { names: 'aliases', aliases: 'names' } as const

/**
 * A word cannot be both a name and an alias, so an imported name meets an alias of the file too, and an imported alias a name.
 */
function mergeRecord(
  member: 'names' | 'aliases',
  { [member]: before, [other[member]]: beside }: Readonly<Record<string, unknown>>,
  { addition, conflicts, replaces }: Merging,
): Record<string, unknown> {
  const merged = { ...recordOrEmpty(before) }
  for (const name of Object.keys(addition[other[member]])) {
    if (!Object.hasOwn(merged, name)) continue
    conflicts.push(`${member}: "${name}"`)
    if (replaces) delete merged[name]
  }
  for (const [name, value] of Object.entries(addition[member])) {
    const ours = plain(value)
    const isKnown = Object.hasOwn(merged, name)
    if (isKnown && !isDeepStrictEqual(merged[name], ours)) conflicts.push(`${member}: "${name}"`)
    const isFree = !isKnown && !Object.hasOwn(recordOrEmpty(beside), name)
    if (replaces || isFree) merged[name] = ours
  }
  return Object.keys(merged).length === 0 ? {} : { [member]: merged }
}

/** Files whose present secret would be replaced by a different one. */
export function changedSecrets(folder: string, secrets: ReadonlyMap<string, string>): string[] {
  return [...secrets].flatMap(([file, text]) => {
    const path = join(folder, file)
    return existsSync(path) && readFileSync(path, 'utf8').trim() !== text ? [file] : []
  })
}

/** Which of these secret files a new provider of the configuration would read; such a secret may belong to another server. */
export function takenSecrets({ added }: MergedConfig, files: readonly string[]): string[] {
  const text = JSON.stringify(added)
  return files.filter((file) => text.includes(`\${file:./${file}}`))
}

/** Writes the secrets, each readable only by its owner. An existing file with another secret is kept, or replaced. */
export function writeSecrets(
  folder: string,
  secrets: ReadonlyMap<string, string>,
  { replaces }: MergeOptions,
): void {
  for (const [file, text] of secrets) {
    const path = join(folder, file)
    if (existsSync(path) && (!replaces || readFileSync(path, 'utf8').trim() === text)) continue
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, `${text}\n`, { mode: 0o600 })
    chmodSync(path, 0o600)
  }
}

/**
 * Writes the file atomically, with the permissions of the present one, and keeps a copy of the present file beside it.
 * Returns the copy's path.
 */
export function writeConfig(path: string, { text, isNew }: MergedConfig): string | null {
  const kept = isNew ? null : `${path}.before-import`
  if (kept !== null) copyFileSync(path, kept)
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, text, { mode: 0o600 })
  chmodSync(`${path}.new`, isNew ? 0o644 & ~process.umask() : statSync(path).mode & 0o777)
  renameSync(`${path}.new`, path)
  return kept
}
