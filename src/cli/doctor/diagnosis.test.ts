import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingContext } from '../../../test/story/command-context.ts'
import { runCommand } from '../run.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-diagnosis-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The doctor's lines about a data folder. */
async function findingsOf(dataFolder: string): Promise<string> {
  const base = recordingContext().readConfig()
  const databaseUrl = `sqlite:${dataFolder}/headrace.db`
  const context = recordingContext({ readConfig: () => ({ ...base, dataFolder, databaseUrl }) })
  expect(await runCommand(['doctor'], context)).toBe(1)
  return context.output()
}

test('a gateway that is not ready is quoted, and not its JSON', async () => {
  const message = 'Not ready: storage does not answer.'
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ error: { code: 503, message } }, { status: 503 }),
  })
  const base = recordingContext({ port: server.port ?? 0 }).readConfig()
  const context = recordingContext({
    readConfig: () => ({ ...base, dataFolder: folder, databaseUrl: 'sqlite:/nowhere' }),
  })
  await runCommand(['doctor'], context)
  expect(context.output()).toContain(`✗ gateway        ${message} (503)\n`)
  await server.stop(true)
})

test('a data folder that is a file and a missing one each have their own next step', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const taken = await findingsOf(file)
  expect(taken).toContain(`✗ data folder    ${file} is no folder`)
  expect(taken).toContain('next: move that file away, or set HEADRACE_DATA to a folder of yours')
  const missing = await findingsOf(join(folder, 'missing'))
  expect(missing).toContain('does not exist')
  expect(missing).toContain('next: npx headrace serve makes it')
})

test('a small limit of open files is named with the way to raise it', async () => {
  for (const [limit, isSaid] of [
    [256, true],
    [65_536, false],
    [null, false],
  ] as const) {
    const config = { ...recordingContext().readConfig(), dataFolder: folder, databaseUrl: 'sqlite:/nowhere' }
    const context = recordingContext({ readConfig: () => config, descriptorLimit: () => limit })
    await runCommand(['doctor'], context)
    expect([limit, context.output().includes('! open files')]).toEqual([limit, isSaid])
    if (isSaid) expect(context.output()).toContain('LimitNOFILE')
  }
})
