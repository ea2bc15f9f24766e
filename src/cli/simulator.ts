import { parseArguments } from './arguments.ts'
import type { CommandContext } from './context.ts'
import { CommandFailure, usageFailure } from './failure.ts'
import { listenForInterruption } from './interruption.ts'

const defaultPort = 4010

/** `headrace simulator`: runs only the simulated providers, until a signal. */
export async function runSimulator(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('simulator', args, { port: { type: 'string' }, host: { type: 'string' } }, 0)
  const port = portOf(parsed.text('port'))
  const host = parsed.text('host') ?? '127.0.0.1'
  let simulator: Awaited<ReturnType<CommandContext['startSimulator']>>
  try {
    simulator = await context.startSimulator({ port, host })
  } catch {
    throw new CommandFailure(
      `Port ${port} of ${host} cannot be had. Another one: npx headrace simulator --port ${port + 1}`,
    )
  }
  const interruption = listenForInterruption()
  context.write(`Simulated provider at ${simulator.url}/v1 (any key). Ctrl-C stops it.\n`)
  context.write(`Use it: headrace.config.json with a provider of preset "custom" and this base_url.\n`)
  await new Promise<void>((resolve) =>
    interruption.signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  await simulator.stop()
  return 0
}

function portOf(value: string | undefined): number {
  if (value === undefined) return defaultPort
  const port = Number(value)
  if (/^\d{1,5}$/.test(value) && port <= 65_535) return port
  throw usageFailure(`"${value}" is not a port.`, 'simulator')
}
