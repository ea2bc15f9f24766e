import { baseUrlOf, createClient, type GatewayClient } from './client.ts'
import type { CliConfig, CommandContext } from './context.ts'
import { configProblemsOf } from './failure.ts'

/** A client of the gateway that environment and configuration point at. */
export function clientOf(context: CommandContext): GatewayClient {
  return createClient(baseUrlOf(context.env, configOrNull(context)))
}

// A configuration with problems stops the server, not a client that was told the address.
function configOrNull(context: CommandContext): CliConfig | null {
  if (!context.env['HEADRACE_URL']) return context.readConfig()
  try {
    return context.readConfig()
  } catch (error) {
    if (configProblemsOf(error)) return null
    throw error
  }
}
