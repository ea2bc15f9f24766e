import type { KeyRecord } from '../access/key-record.ts'
import { systemClock } from '../core/clock.ts'
import { createClient, type GatewayClient } from './client.ts'
import type { CliStorage, CommandContext } from './context.ts'
import { CommandFailure } from './failure.ts'
import { findOrganization, openLocalStorage } from './local-storage.ts'

/** Life of a key that a command makes for itself: longer than any batch it sends can run. */
const temporaryKeyMs = 25 * 3_600_000

/** Keys for one command, made in the local data folder: whoever may write there needs none of their own. */
export interface TemporaryKeys {
  storage: CliStorage
  /** Resolves with the secret. */
  create(kind: KeyRecord['kind']): Promise<string>
  /** Disables what was made and closes storage. */
  giveBack(): Promise<void>
  /** Closes storage only: for what goes on with such a key. It expires when no batch of it can run any more. */
  leave(): Promise<void>
}

/** Opens local storage for them. `name` is what lists of keys show. Throws CommandFailure as `openLocalStorage` does. */
export async function openTemporaryKeys(context: CommandContext, name: string): Promise<TemporaryKeys> {
  const storage = await openLocalStorage(context)
  const made: KeyRecord[] = []
  return {
    storage,
    async create(kind) {
      const { organizationId } = await findOrganization(storage)
      const expiresAtMs = systemClock.nowMs() + temporaryKeyMs
      const created = await storage.keys.create({ organizationId, kind, name, expiresAtMs })
      made.push(created.key)
      return created.secret
    },
    async giveBack() {
      try {
        for (const { organizationId, keyHash } of made)
          await storage.keys.update(organizationId, keyHash, { disabled: true })
      } finally {
        await storage.close()
      }
    },
    leave: () => storage.close(),
  }
}

/** Throws CommandFailure when the gateway that answers does not know a key made here: it then works on other data. */
export async function requireKnown(client: GatewayClient, key: string): Promise<void> {
  const response = await createClient(client.baseUrl).send('/key', { key })
  await response.body?.cancel()
  if (response.status !== 401) return
  throw new CommandFailure(
    `The gateway at ${client.baseUrl} works on another data folder than this command. Set HEADRACE_DATA to its folder, or HEADRACE_API_KEY to a key of it.`,
  )
}
