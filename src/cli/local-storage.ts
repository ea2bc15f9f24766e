import type { OrganizationRecord } from '../access/organization-record.ts'
import type { CliStorage, CommandContext } from './context.ts'
import { CommandFailure } from './failure.ts'

/** Opens storage, lets `use` work with it, and closes it whatever happens. */
export async function withStorage<T>(
  context: CommandContext,
  use: (storage: CliStorage) => Promise<T>,
): Promise<T> {
  const storage = await context.openStorage(context.readConfig())
  try {
    return await use(storage)
  } finally {
    await storage.close()
  }
}

/** The organization that commands work on: the one named, else the oldest. Throws CommandFailure when there is none. */
export async function findOrganization(storage: CliStorage, named?: string): Promise<OrganizationRecord> {
  const { organizations } = storage
  const found = await (named === undefined ? organizations.loadFirst() : organizations.load(named))
  if (found) return found
  if (named !== undefined) throw new CommandFailure(`There is no organization "${named}".`)
  throw new CommandFailure('There is no organization yet. The first start makes one: npm start')
}
