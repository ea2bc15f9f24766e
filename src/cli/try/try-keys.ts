import type { GatewayClient } from '../client.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { openTemporaryKeys, requireKnown } from '../temporary-keys.ts'

/** Keys to try the gateway with. */
export interface TryKeys {
  key: string
  managementKey: string | null
  /** Storage on this machine, if the keys were created there. */
  storage: CliStorage | null
  /** One line about the source of the keys. */
  origin: string
  /** Disables the created keys and closes storage. */
  giveBack(): Promise<void>
}

/**
 * The keys of the environment, or temporary ones in the local data folder. Throws CommandFailure when the gateway that
 * answers does not know a key created there, because it then uses other data.
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
  const keys = await openTemporaryKeys(context, 'headrace try')
  const { storage, giveBack } = keys
  try {
    const secret = await keys.create('inference')
    const managementSecret = managementKey ?? (await keys.create('management'))
    await requireKnown(client, secret)
    const origin = 'temporary keys made in the local data folder, disabled again at the end'
    return { key: secret, managementKey: managementSecret, storage, origin, giveBack }
  } catch (error) {
    await giveBack()
    throw error
  }
}
