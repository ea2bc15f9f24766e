import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { whyNoRecordings } from '../../recordings/recorded.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { notRun, type Proof, type ProofResult } from '../proof.ts'
import { checkOut } from '../../../bench/harness/checkout.ts'

/** The last version before files were moved. */
const versionBeforeTheMoves = '3d7b177ee93eed904b3d1836a0d2a39679bd52d1'
/** What replays, and what names the recordings: both versions replay the same ones. */
const dumpFiles = ['replay-dump.ts', 'outside.ts', 'recorded.ts', 'wire.ts'] as const
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
    for (const file of dumpFiles)
      cpSync(join(rootFolder, 'test/recordings', file), join(root, 'test/recordings', file))
    const [before, now] = [await linesOf(root), await linesOf(rootFolder)]
    const found = [...now].flatMap(([name, line]) => differencesOf(name, before.get(name), line))
    const begun = [...now.values()].filter(
      ({ name, told }) => before.get(name)?.told !== told && isWanted(before.get(name), told),
    )
    const lost = [...before.keys()].filter((name) => !now.has(name))
    const differences = [...lost.map((name) => `${name}: not replayed`), ...found]
    return {
      status: differences.length === 0 && now.size > 0 ? 'PASS' : 'FAIL',
      figures: [
        `${now.size} replays: what was asked, what was told and what was booked; ${differences.length} differ`,
        `wanted: ${begun.length} streams of chat begin with the role that their provider left out`,
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
    if (was === is || (part === 'told' && isWanted(before, now.told))) return []
    let at = 0
    while (was[at] === is[at]) at += 1
    return [
      `${name}: ${part} was …${was.slice(Math.max(0, at - 40), at + 80)}… and is …${is.slice(Math.max(0, at - 40), at + 80)}…`,
    ]
  })
}

function isWanted(before: Line | undefined, told: string): boolean {
  return before !== undefined && told === withRole(before.told)
}

interface Chunk {
  object?: string
  choices?: { index: number; delta: { role?: string } }[]
}

/**
 * What a version of before told, with the one difference that is wanted: the first chunk of each choice of a chat stream has
 * a role, which the official client's helpers require, and no later one repeats it.
 */
function withRole(told: string): string {
  const begun = new Set<number>()
  const frames = told.split('\n\n').map((frame) => {
    if (!frame.startsWith('data: {')) return frame
    const chunk = JSON.parse(frame.slice('data: '.length)) as Chunk
    if (chunk.object !== 'chat.completion.chunk') return frame
    let isChanged = false
    for (const { index, delta } of chunk.choices ?? []) {
      const isFirst = !begun.has(index)
      begun.add(index)
      if (isFirst === (delta.role !== undefined)) continue
      isChanged = true
      if (isFirst) delta.role = 'assistant'
      else delete delta.role
    }
    return isChanged ? `data: ${JSON.stringify(chunk)}` : frame
  })
  return frames.join('\n\n')
}
