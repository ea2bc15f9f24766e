import { baseUrlOf, createClient, type GatewayClient } from './client.ts'
import type { CliConfig, CommandContext } from './context.ts'
import { configProblemsOf } from './failure.ts'

/** A client for the gateway named by the environment or the configuration. */
export function clientOf(context: CommandContext): GatewayClient {
  return createClient(baseUrlOf(context.env, configOrNull(context)))
}

// Problems in the configuration stop the server, but not a client that has the URL.
function configOrNull(context: CommandContext): CliConfig | null {
  if (!context.env['HEADRACE_URL']) return context.readConfig()
  try {
    return context.readConfig()
  } catch (error) {
    if (configProblemsOf(error)) return null
    throw error
  }
}
