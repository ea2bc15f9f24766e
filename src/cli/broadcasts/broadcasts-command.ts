import type { DestinationState } from '../../delivery/broadcasts/broadcast-repository.ts'
import { counted, timestamp } from '../amounts.ts'
import { parseArguments } from '../arguments.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { withStorage } from '../local-storage.ts'
import { createPaint } from '../paint.ts'
import { renderTable } from '../table.ts'

/** `headrace broadcasts` and `headrace broadcasts redeliver <destination>`: works on the database directly. */
export async function runBroadcasts(args: readonly string[], context: CommandContext): Promise<number> {
  const { words } = parseArguments('broadcasts', args, {}, 2)
  const [action = 'list', name] = words
  if (action !== 'list' && action !== 'redeliver')
    throw usageFailure(`There is no "broadcasts ${action}".`, 'broadcasts')
  if (action === 'redeliver' && name === undefined)
    throw usageFailure('Tell which destination again? "broadcasts" lists them.', 'broadcasts')
  await withStorage(context, async ({ broadcasts }) => {
    const states = await broadcasts.listStates()
    if (action === 'list' || name === undefined) return list(states, context)
    const configured = context.readConfig().broadcasts ?? []
    if (!configured.some((one) => one.name === name) && !states.some((one) => one.destination === name))
      throw new CommandFailure(`There is no destination "${name}".`)
    const many = await broadcasts.again(name)
    context.write(`${counted(many, 'generation')} will be told to ${name} again\n`)
  })
  return 0
}

/** Every destination that is configured or has something left. */
function list(states: readonly DestinationState[], context: CommandContext): void {
  const configured = context.readConfig().broadcasts ?? []
  const names = [
    ...new Set(
      [...configured, ...states.map((state) => ({ name: state.destination }))].map(({ name }) => name),
    ),
  ]
  if (names.length === 0) {
    context.write('No destination is configured: "broadcasts" in docs/configuration.md\n')
    return
  }
  const rows = names.map((name) => {
    const state = states.find(({ destination }) => destination === name)
    const kind = configured.find((one) => one.name === name)?.kind ?? 'not configured'
    return [name, kind, ...cellsOf(state)]
  })
  const headers = ['destination', 'kind', 'told', 'waiting', 'given up', 'dropped', 'last answer']
  context.write(renderTable(headers, rows, createPaint(context.isTty, context.env)))
}

function cellsOf(state: DestinationState | undefined): string[] {
  if (state === undefined) return ['0', '0', '0', '0', 'none yet']
  const { sent, waiting, kept, dropped, problem, failingSinceMs, status } = state
  const refused = failingSinceMs === null ? '' : ` since ${timestamp(failingSinceMs)}`
  const taken = status === null ? 'none yet' : `taken (${status})`
  const answer = problem === null ? taken : `${problem}${refused}`
  return [String(sent), String(waiting), String(kept), String(dropped), answer]
}
