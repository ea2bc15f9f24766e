import { existsSync } from 'node:fs'
import type { OrganizationRecord } from '../access/organization-record.ts'
import type { CliStorage, CommandContext, ConfigOptions } from './context.ts'
import { CommandFailure } from './failure.ts'
import { explainFailure } from './serve/serve-loop.ts'

/**
 * Opens the configured storage. Throws CommandFailure when it cannot be opened, and when it does not exist: a command
 * must not create storage in whatever folder the user happens to be in.
 */
export async function openLocalStorage(
  context: CommandContext,
  asker: { isDoctor?: boolean } & ConfigOptions = {},
): Promise<CliStorage> {
  const config = context.readConfig(asker.mayLackFile === true ? { mayLackFile: true } : {})
  const path = config.databaseUrl.startsWith('sqlite:') ? config.databaseUrl.slice('sqlite:'.length) : null
  if (path !== null && !existsSync(path)) {
    throw new CommandFailure(
      `There is no gateway's data in ${config.dataFolder}. Start one here with "npx headrace serve", or set HEADRACE_DATA to its folder.`,
    )
  }
  try {
    return await context.openStorage(config)
  } catch (error) {
    const explained = explainFailure(error, config, asker)
    throw explained === null ? error : new CommandFailure(explained)
  }
}

/** Opens storage, lets `use` work with it, and closes it in any case. */
export async function withStorage<T>(
  context: CommandContext,
  use: (storage: CliStorage) => Promise<T>,
  options: ConfigOptions = {},
): Promise<T> {
  const storage = await openLocalStorage(context, options)
  try {
    return await use(storage)
  } finally {
    await storage.close()
  }
}

/** The organization of a command: the named one, otherwise the oldest. Throws CommandFailure when there is none. */
export async function findOrganization(storage: CliStorage, named?: string): Promise<OrganizationRecord> {
  const { organizations } = storage
  const found = await (named === undefined ? organizations.loadFirst() : organizations.load(named))
  if (found) return found
  if (named !== undefined) throw new CommandFailure(`There is no organization "${named}".`)
  throw new CommandFailure('There is no organization yet. The first start makes one: npx headrace serve')
}
