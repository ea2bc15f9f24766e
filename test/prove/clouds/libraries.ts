import { join } from 'node:path'
import type { PackageSet } from '../../clients/packages.ts'

/** The libraries of Amazon, Google and Microsoft that fetch logins. */
export const cloudLibraries: PackageSet = {
  name: 'python-clouds',
  registry: 'python',
  versions: { botocore: '1.44.8', 'google-auth': '2.63.0', requests: '2.34.2', msal: '1.39.0' },
}

const program = join(import.meta.dir, '../../clients/programs/cloud_logins.py')

/** What a library did with one case. */
export interface LibraryAnswer {
  told?: unknown
  failed?: string
}

/** Gives the cases to the libraries, all in one process. */
export async function askLibraries(folder: string, cases: readonly object[]): Promise<LibraryAnswer[]> {
  const child = Bun.spawn([join(folder, 'bin/python'), program], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, AWS_EC2_METADATA_DISABLED: 'true' },
  })
  void child.stdin.write(cases.map((each) => `${JSON.stringify(each)}\n`).join(''))
  await child.stdin.end()
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`the libraries ended: ${errors.slice(-500)}`)
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LibraryAnswer)
}

/** Draws that are the same in every run. */
export function drawFrom(seed: number) {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 32
  }
  const upTo = (most: number): number => Math.floor(next() * (most + 1))
  return {
    /** A whole number from 0 to `most`. */
    upTo,
    /** A character of a text. */
    in(text: string): string {
      const characters = [...text]
      return characters[upTo(characters.length - 1)] ?? ''
    },
    of: <T>(choices: readonly [T, ...T[]]): T => choices[upTo(choices.length - 1)] ?? choices[0],
  }
}
