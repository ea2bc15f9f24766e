import type { KeyRecord } from '../access/key-record.ts'
import { systemClock } from '../core/clock.ts'
import { createClient, type GatewayClient } from './client.ts'
import type { CliStorage, CommandContext } from './context.ts'
import { CommandFailure } from './failure.ts'
import { findOrganization, openLocalStorage } from './local-storage.ts'

/** The lifetime of a key that a command creates for itself: longer than any of its batches can run. */
const temporaryKeyMs = 25 * 3_600_000

/** Keys for one command, created in the local data folder: a user who may write there needs no key. */
export interface TemporaryKeys {
  storage: CliStorage
  /** Resolves with the secret. */
  create(kind: KeyRecord['kind']): Promise<string>
  /** Disables the created keys and closes storage. */
  giveBack(): Promise<void>
  /** Only closes storage, because a batch still uses such a key. The key expires when no batch of it can still run. */
  leave(): Promise<void>
}

/** Opens local storage for them. `name` is shown in lists of keys. Throws CommandFailure like `openLocalStorage`. */
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

/** Throws CommandFailure when the gateway that answers does not know a key created here: it then uses other data. */
export async function requireKnown(client: GatewayClient, key: string): Promise<void> {
  const response = await createClient(client.baseUrl).send('/key', { key })
  await response.body?.cancel()
  if (response.status !== 401) return
  throw new CommandFailure(
    `The gateway at ${client.baseUrl} works on another data folder than this command. Set HEADRACE_DATA to its folder, or HEADRACE_API_KEY to a key of it.`,
  )
}
