import { judgeBooks } from '../../clients/books.ts'
import {
  clientOf,
  columns,
  foreignUpstreams,
  frameworks,
  type Column,
  type Framework,
} from '../../clients/frameworks.ts'
import { createPackages, type Packages } from '../../clients/packages.ts'
import { isValidationError, playClient, type PlayedCase } from '../../clients/play-client.ts'
import { faultsOf, readTask, scriptsOf } from '../../clients/task.ts'
import { pathOf, startClientsWorld, type ClientsWorld } from '../../clients/world.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

type Upstream = (typeof foreignUpstreams)[number]

const columnNames = Object.keys(columns) as Column[]
const nameWidth = 20

export const proof: Proof = {
  title: 'frameworks on providers of foreign formats: every cell of the table of clients',
  async run() {
    const packages = createPackages()
    const world = await startClientsWorld()
    try {
      const results: ProofResult[] = [{ status: 'PASS', figures: [heading()] }]
      for (const upstream of foreignUpstreams) {
        for (const framework of frameworks)
          results.push(await prove(framework, upstream, { packages, world }))
      }
      return combine([...results, await judgeBooks(world)])
    } finally {
      await world.stop()
      packages.remove()
    }
  },
}

async function prove(
  framework: Framework,
  upstream: Upstream,
  { packages, world }: { packages: Packages; world: ClientsWorld },
): Promise<ProofResult> {
  const name = framework.name.padEnd(nameWidth)
  const { folder, reason } = await packages.install(framework.packages)
  if (folder === null) return { status: 'NOT RUN', figures: [`${name}NOT RUN: ${reason}`] }
  const task = readTask()
  await world.forget(upstream.mount)
  await world.set(upstream.mount, { scripts: scriptsOf(task), faults: faultsOf(task) })
  const callsBefore = (await world.requestLines()).length
  const played = await playClient(clientOf(framework, upstream), folder, world)
  const calls = (await world.requestLines()).length - callsBefore
  const problems = [...problemsOf(framework, played), ...(await problemsAt(upstream, world))]
  const cells = columnNames
    .map((column) => cellOf(framework, column, played).padEnd(column.length + 2))
    .join('')
  const told = `${name}${upstream.mount.padEnd(12)}${cells}${String(calls).padEnd(7)}${played.filter(isValidationError).length}`
  return {
    status: problems.length === 0 ? 'PASS' : 'FAIL',
    figures: [told, ...problems.map((problem) => `    ${problem}`)],
  }
}

/** The cases that failed, and the cells that nothing was played for. */
function problemsOf(framework: Framework, played: readonly PlayedCase[]): string[] {
  const failed = played.flatMap(({ case: name, failure }) =>
    failure === null ? [] : [`${name}: ${failure.message.trim().slice(0, 400)}`],
  )
  const empty = columnNames.filter((column) => cellOf(framework, column, played) === '?')
  return [...failed, ...empty.map((column) => `${column} was not played`)]
}

/** What reached the provider went to the path of its own format, and it refused nothing but what was to fail. */
async function problemsAt({ mount }: Upstream, world: ClientsWorld): Promise<string[]> {
  const received = await world.received(mount)
  const strange = received.filter(
    (request) => !pathOf[mount].test(request.path) && request.path !== '/v1/embeddings',
  )
  const refused = received.filter(
    ({ outcome, body }) => outcome !== 200 && !JSON.stringify(body).includes('FAULT-'),
  )
  return [
    ...(received.length === 0 ? ['the provider was asked nothing'] : []),
    ...strange.map((request) => `${request.path} was asked`),
    ...refused.map(
      ({ outcome, body }) => `the provider said ${outcome} to ${JSON.stringify(body).slice(0, 300)}`,
    ),
  ]
}

function cellOf(framework: Framework, column: Column, played: readonly PlayedCase[]): string {
  if (framework.lacks[column] !== undefined) return '–'
  const found = played.filter(({ case: name }) =>
    columns[column].some(
      (begin) => name === begin || name.startsWith(`${begin},`) || name === `${begin} streamed`,
    ),
  )
  if (found.length === 0) return '?'
  return found.every(({ failure }) => failure === null) ? 'ok' : 'FAIL'
}

function heading(): string {
  return `${'client'.padEnd(nameWidth)}${'upstream'.padEnd(12)}${columnNames.map((column) => column.padEnd(column.length + 2)).join('')}calls  validation errors`
}
