import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingContext } from '../../test/story/command-context.ts'
import { runCommand } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-diagnosis-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the doctor says of a data folder. */
async function findingsOf(dataFolder: string): Promise<string> {
  const base = recordingContext().readConfig()
  const databaseUrl = `sqlite:${dataFolder}/headrace.db`
  const context = recordingContext({ readConfig: () => ({ ...base, dataFolder, databaseUrl }) })
  expect(await runCommand(['doctor'], context)).toBe(1)
  return context.output()
}

test('a data folder that is a file, and one that is not there, have each their own next step', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const taken = await findingsOf(file)
  expect(taken).toContain(`✗ data folder    ${file} is no folder`)
  expect(taken).toContain('next: move that file away, or set HEADRACE_DATA to a folder of yours')
  const missing = await findingsOf(join(folder, 'missing'))
  expect(missing).toContain('does not exist')
  expect(missing).toContain('next: npm start makes it')
})
