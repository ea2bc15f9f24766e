import { faultsOf, scriptsOf, type Task } from './task.ts'
import type { Client } from './clients.ts'
import type { Packages } from './packages.ts'
import { isValidationError, playClient, type PlayedCase } from './play-client.ts'
import { pathOf, type ClientsWorld, type Received } from './world.ts'
import type { ProofResult } from '../prove/proof.ts'

/** Columns of the table; every other case of a client is counted in the last. */
const columns = [
  'tools',
  'tools streamed',
  'stream',
  'structured',
  'unknown model',
  'bad parameter',
  'upstream 429',
  'upstream 500',
  'error in stream',
] as const

/** Where clients are played, and what they are asked. */
export interface Playing {
  packages: Packages
  world: ClientsWorld
  task: Task
}

/** A row of each client: how its cases ended, and what the provider got that it should not have. */
export async function rowsOf(clients: readonly Client[], playing: Playing): Promise<ProofResult[]> {
  const results: ProofResult[] = [{ status: 'PASS', figures: [heading()] }]
  for (const client of clients) results.push(await prove(client, playing))
  return results
}

async function prove(client: Client, { packages, world, task }: Playing): Promise<ProofResult> {
  const { folder, reason } = await packages.install(client.packages)
  if (folder === null) return { status: 'NOT RUN', figures: [`${nameOf(client)}NOT RUN: ${reason}`] }
  await world.forget(client.mount)
  await world.set(client.mount, { scripts: scriptsOf(task), faults: faultsOf(task) })
  const played = await playClient(client, folder, world)
  const problems = [
    ...played.flatMap(({ case: name, failure }) =>
      failure === null ? [] : [`${name}: ${firstLines(failure.message)}`],
    ),
    ...judgeReceived(await world.received(client.mount), client, task),
  ]
  const missing = columns.filter((column) => !played.some((each) => each.case === column))
  const status = problems.length === 0 && missing.length === 0 ? 'PASS' : 'FAIL'
  return { status, figures: [row(client, played), ...problems.map((problem) => `    ${problem}`)] }
}

/** What reached the provider: its own format's path alone, nothing refused but by the faults, and the tools' results. */
function judgeReceived(received: readonly Received[], { mount, name }: Client, task: Task): string[] {
  const problems: string[] = []
  const strange = received.filter(({ path }) => !pathOf[mount].test(path))
  if (strange.length > 0) problems.push(`${strange[0]?.path} was asked`)
  const isMeant = ({ body }: Received) => JSON.stringify(body).includes('FAULT-')
  const refused = received.filter((request) => request.outcome !== 200 && !isMeant(request))
  for (const { outcome, body } of refused) problems.push(`the provider said ${outcome} to ${shorten(body)}`)
  const texts = received.map(({ body }) => JSON.stringify(body))
  const results = [
    ...task.tools.weather.map((input) => JSON.stringify(`sunny in ${(input as { city: string }).city}`)),
    JSON.stringify(task.tools.results['convert']),
    JSON.stringify(task.tools.results['note']),
  ]
  const isWhole = texts.some((text) => results.every((result) => text.includes(unquoted(result))))
  if (!isWhole) problems.push(`no request of ${name} had the results of all tools`)
  const schemas = texts.filter((text) => schemaMember.test(text) && text.includes('"degrees"'))
  if (schemas.length === 0) problems.push(`no request of ${name} carried the schema`)
  return problems
}

/** By which the formats know that an answer has a schema. */
const schemaMember = /"json_schema"|"responseJsonSchema"/

/** A text as it stands inside another JSON text. */
function unquoted(json: string): string {
  return json.slice(1, -1)
}

function shorten(body: unknown): string {
  return JSON.stringify(body).slice(0, 300)
}

const nameWidth = 26
const mountWidth = 11

function nameOf({ name, mount }: Client): string {
  return `${pad(name, nameWidth)}${pad(mount, mountWidth)}`
}

function heading(): string {
  return `${pad('client', nameWidth)}${pad('provider', mountWidth)}${columns.map((column) => pad(column, column.length + 2)).join('')}other  calls  validation errors`
}

/** A client that knows a model refuses itself what that model does not take, and asks nobody. */
function row(client: Client, played: readonly PlayedCase[]): string {
  const cell = (column: string): string => {
    const found = played.find((each) => each.case === column)
    if (found === undefined) return '–'
    if (found.failure !== null) return 'FAIL'
    return found.calls > 0 ? 'ok' : 'not asked'
  }
  const others = played.filter((each) => !columns.some((column) => column === each.case))
  const otherCell =
    others.length === 0 ? '–' : `${others.filter(({ failure }) => failure === null).length}/${others.length}`
  const calls = played.reduce((sum, each) => sum + each.calls, 0)
  const cells = columns.map((column) => pad(cell(column), column.length + 2)).join('')
  return `${nameOf(client)}${cells}${pad(otherCell, 7)}${pad(String(calls), 7)}${played.filter(isValidationError).length}`
}

function pad(text: string, width: number): string {
  return text.padEnd(width)
}

function firstLines(text: string): string {
  return text.trim().split('\n').slice(0, 3).join(' | ').slice(0, 500)
}
