import {
  audioClients,
  startAudioWorld,
  type AudioClient,
  type AudioWorld,
} from '../../clients/audio-clients.ts'
import { createPackages, type Packages } from '../../clients/packages.ts'
import { isValidationError, playClient, type PlayedCase } from '../../clients/play-client.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

/** Columns of the table; every other case of a client is counted in the last. */
const columns = [
  'json',
  'verbose',
  'stream',
  'mp3',
  'pcm',
  'unknown model',
  'no sound',
  'bad speed',
  'bad key',
] as const
/** What the programs expect to be heard. */
const heard = 'Good morning to you.'
const nameWidth = 18

export const proof: Proof = {
  title: 'clients of audio: cases, calls and validation errors of each',
  async run() {
    const packages = createPackages()
    const world = await startAudioWorld(heard)
    try {
      const results: ProofResult[] = [{ status: 'PASS', figures: [heading()] }]
      for (const client of audioClients) results.push(await prove(client, packages, world))
      return combine(results)
    } finally {
      await world.stop()
      packages.remove()
    }
  },
}

async function prove(client: AudioClient, packages: Packages, world: AudioWorld): Promise<ProofResult> {
  const name = client.name.padEnd(nameWidth)
  const { folder, reason } = await packages.install(client.packages)
  if (folder === null) return { status: 'NOT RUN', figures: [`${name}NOT RUN: ${reason}`] }
  const played = await playClient({ ...client, model: '', sealsThoughts: false }, folder, world)
  const problems = played.flatMap(({ case: each, failure }) =>
    failure === null
      ? []
      : [
          `${each}: ${failure.name}: ${failure.message.trim().split('\n').slice(0, 3).join(' | ').slice(0, 500)}`,
        ],
  )
  const missing = columns.filter(
    (column) => !client.lacks.includes(column) && !played.some((each) => each.case === column),
  )
  const isGood = problems.length === 0 && missing.length === 0
  const told = [...problems, ...missing.map((column) => `${column} was not played`)].map(
    (line) => `    ${line}`,
  )
  return { status: isGood ? 'PASS' : 'FAIL', figures: [row(name, played), ...told] }
}

function row(name: string, played: readonly PlayedCase[]): string {
  const cell = (column: string): string => {
    const found = played.find((each) => each.case === column)
    if (found === undefined) return '–'
    if (found.failure !== null) return 'FAIL'
    return found.calls > 0 ? 'ok' : 'not asked'
  }
  const others = played.filter((each) => !columns.some((column) => column === each.case))
  const good = others.filter(({ failure }) => failure === null).length
  const otherCell = others.length === 0 ? '–' : `${good}/${others.length}`
  const calls = played.reduce((sum, each) => sum + each.calls, 0)
  const cells = columns.map((column) => cell(column).padEnd(column.length + 2)).join('')
  return `${name}${cells}${otherCell.padEnd(7)}${String(calls).padEnd(7)}${played.filter(isValidationError).length}`
}

function heading(): string {
  return `${'client'.padEnd(nameWidth)}${columns.map((column) => column.padEnd(column.length + 2)).join('')}other  calls  validation errors`
}
