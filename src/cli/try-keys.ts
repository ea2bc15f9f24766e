import type { KeyRecord } from '../access/key-record.ts'
import { createClient, type GatewayClient } from './client.ts'
import type { CliStorage, CommandContext } from './context.ts'
import { CommandFailure } from './failure.ts'
import { findOrganization, openLocalStorage } from './local-storage.ts'

/** Keys to try the gateway with. */
export interface TryKeys {
  key: string
  managementKey: string | null
  /** Storage on this machine, when the keys were made there. */
  storage: CliStorage | null
  /** One line that says where the keys are from. */
  origin: string
  /** Disables what was made and closes storage. */
  giveBack(): Promise<void>
}

/**
 * The keys of the environment, or temporary ones made in the local data folder. Throws CommandFailure when the gateway
 * that answers does not know a key made there, because it then works on other data.
 */
export async function obtainKeys(context: CommandContext, client: GatewayClient): Promise<TryKeys> {
  const { HEADRACE_API_KEY: key, HEADRACE_MANAGEMENT_KEY: managementKey } = context.env
  if (key) {
    const origin = managementKey
      ? 'keys from HEADRACE_API_KEY and HEADRACE_MANAGEMENT_KEY'
      : 'key from HEADRACE_API_KEY'
    return {
      key,
      managementKey: managementKey ?? null,
      storage: null,
      origin,
      giveBack: () => Promise.resolve(),
    }
  }
  const storage = await openLocalStorage(context)
  const made: KeyRecord[] = []
  const giveBack = async () => {
    try {
      for (const { organizationId, keyHash } of made)
        await storage.keys.update(organizationId, keyHash, { disabled: true })
    } finally {
      await storage.close()
    }
  }
  try {
    const { organizationId } = await findOrganization(storage)
    const make = async (kind: 'inference' | 'management') => {
      const created = await storage.keys.create({ organizationId, kind, name: 'headrace try' })
      made.push(created.key)
      return created.secret
    }
    const secret = await make('inference')
    const managementSecret = managementKey ?? (await make('management'))
    await requireKnown(client, secret)
    const origin = 'temporary keys made in the local data folder, disabled again at the end'
    return { key: secret, managementKey: managementSecret, storage, origin, giveBack }
  } catch (error) {
    await giveBack()
    throw error
  }
}

async function requireKnown(client: GatewayClient, key: string): Promise<void> {
  const response = await createClient(client.baseUrl).send('/key', { key })
  await response.body?.cancel()
  if (response.status !== 401) return
  throw new CommandFailure(
    `The gateway at ${client.baseUrl} works on another data folder than this command. Set HEADRACE_DATA to its folder, or HEADRACE_API_KEY to a key of it.`,
  )
}
