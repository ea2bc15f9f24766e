import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../prove/command.ts'
import type { Client } from './clients.ts'
import type { ClientsWorld } from './world.ts'

/** How one case of a client's program ended. */
export interface PlayedCase {
  case: string
  /** Requests that the client sent. */
  calls: number
  failure: { name: string; message: string } | null
}

const programs = join(import.meta.dir, 'programs')
/** Of the thoughts that the task has, those that lead to a call of a tool. */
const sealedThoughts = 2
const playMsMax = 180_000
/** What the clients throw for an answer that is not as their schemas have it. */
const validationNames = /validation|zod|typeerror|parseerror|invalidresponsedata/i

/** Runs a client's program where its packages are installed, with nothing of this machine's environment but the path. */
export async function playClient(
  client: Pick<Client, 'program' | 'packages' | 'model' | 'embeddingModel' | 'sealsThoughts'>,
  folder: string,
  world: Pick<ClientsWorld, 'root' | 'key'>,
): Promise<PlayedCase[]> {
  const { program, packages, model, embeddingModel, sealsThoughts } = client
  cpSync(programs, folder, { recursive: true })
  const [file = '', ...args] = program
  const interpreter =
    packages.registry === 'npm' ? [process.execPath, '--no-env-file'] : [join(folder, 'bin/python')]
  const environment = [
    `PATH=${process.env['PATH'] ?? ''}`,
    `HOME=${folder}`,
    `GATEWAY_ROOT=${world.root}`,
    `GATEWAY_KEY=${world.key}`,
    `GATEWAY_MODEL=${model}`,
    `GATEWAY_SEALED_THOUGHTS=${sealsThoughts ? sealedThoughts : 0}`,
    ...(embeddingModel === undefined ? [] : [`GATEWAY_EMBEDDING_MODEL=${embeddingModel}`]),
  ]
  const command = ['env', '-i', ...environment, ...interpreter, join(folder, file), ...args]
  const { code, stdout, output } = await runCommand(command, { cwd: folder, msMax: playMsMax })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"case"'))
  const played = lines.map((line) => JSON.parse(line) as PlayedCase)
  if (code === 0 && played.length > 0) return played
  const message = `ended with ${code}: ${output.slice(-600)}`
  return [...played, { case: 'program', calls: 0, failure: { name: 'Exit', message } }]
}

/** Whether the client could not read what it got. */
export function isValidationError({ failure }: PlayedCase): boolean {
  return failure !== null && validationNames.test(failure.name)
}
