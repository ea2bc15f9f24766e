import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { whyNoRecordings } from '../../recordings/recorded.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { notRun, type Proof, type ProofResult } from '../proof.ts'
import { checkOut } from '../../../bench/harness/checkout.ts'

/** The last version before files were moved. */
const versionBeforeTheMoves = '3d7b177ee93eed904b3d1836a0d2a39679bd52d1'
const dump = 'test/recordings/replay-dump.ts'
const shownMax = 20

interface Line {
  name: string
  asked: unknown
  status: number
  told: string
  booked: unknown
}

export const proof: Proof = {
  title: 'every recorded reply is asked for, told and booked byte by byte as before the moves',
  async run(): Promise<ProofResult> {
    const reason = whyNoRecordings()
    if (reason !== null) return notRun(reason)
    const root = checkOut(versionBeforeTheMoves)
    if (root === null) return notRun('the history does not reach back to the version before')
    cpSync(join(rootFolder, dump), join(root, dump), { recursive: true })
    const [before, now] = [await linesOf(root), await linesOf(rootFolder)]
    const found = [...now].flatMap(([name, line]) => differencesOf(name, before.get(name), line))
    const lost = [...before.keys()].filter((name) => !now.has(name))
    const differences = [...lost.map((name) => `${name}: not replayed`), ...found]
    return {
      status: differences.length === 0 && now.size > 0 ? 'PASS' : 'FAIL',
      figures: [
        `${now.size} replays: what was asked, what was told and what was booked; ${differences.length} differ`,
        ...differences.slice(0, shownMax),
      ],
    }
  },
}

async function linesOf(root: string): Promise<ReadonlyMap<string, Line>> {
  const command = [process.execPath, '--no-env-file', join(root, dump)]
  const recordings = process.env['HEADRACE_RECORDINGS'] ?? join(rootFolder, '../shared/recordings')
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, HEADRACE_RECORDINGS: recordings },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`the replay of ${root} ended with ${child.exitCode}`)
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(lines.map((line) => JSON.parse(line) as Line).map((line) => [line.name, line]))
}

function differencesOf(name: string, before: Line | undefined, now: Line): string[] {
  if (before === undefined) return [`${name}: new`]
  return (['asked', 'status', 'told', 'booked'] as const).flatMap((part) => {
    const [was, is] = [JSON.stringify(before[part]), JSON.stringify(now[part])]
    if (was === is) return []
    let at = 0
    while (was[at] === is[at]) at += 1
    return [
      `${name}: ${part} was …${was.slice(Math.max(0, at - 40), at + 80)}… and is …${is.slice(Math.max(0, at - 40), at + 80)}…`,
    ]
  })
}
