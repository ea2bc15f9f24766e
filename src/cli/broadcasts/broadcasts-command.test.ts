import { expect, test } from 'bun:test'
import { recordingContext } from '../../../test/story/command-context.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import {
  type BroadcastRepository,
  createBroadcastRepository,
  insertBroadcasts,
} from '../../delivery/broadcasts/broadcast-repository.ts'
import type { Database } from '../../storage/database.ts'
import type { CliStorage } from '../context.ts'
import { runCommand } from '../run.ts'

eachDatabase((_name, open) => {
  async function run(args: readonly string[], configured: readonly string[], database: Database) {
    const base = recordingContext().readConfig()
    const broadcasts = configured.map((name) => ({
      name,
      kind: 'otlp',
      url: 'https://otel.example.com/v1/traces',
    }))
    const repository: BroadcastRepository = createBroadcastRepository(database)
    const context = recordingContext({
      readConfig: () => ({ ...base, databaseUrl: 'postgres://here', broadcasts }),
      openStorage: async () =>
        ({ broadcasts: repository, close: () => Promise.resolve() }) as unknown as CliStorage,
    })
    const code = await runCommand(['broadcasts', ...args], context)
    return { code, output: context.output() }
  }

  test('destinations are listed with what waits, and what was given up is told again', async () => {
    const database = await open()
    const rows = ['gen-1', 'gen-2', 'gen-3'].map((id) => ['traces', id, '{}'] as const)
    await database.commit({ name: 'test', statements: [insertBroadcasts(rows)] })
    await database.commit({
      name: 'test',
      statements: [{ sql: `update broadcasts set state = 'failed' where generation_id <> 'gen-1'` }],
    })
    const listed = await run([], ['traces', 'unused'], database)
    expect(listed.code).toBe(0)
    expect(listed.output).toMatch(/traces +otlp +0 +1 +2 +0 +none yet/)
    expect(listed.output).toMatch(/unused +otlp +0 +0 +0 +0 +none yet/)
    expect(await run(['redeliver', 'traces'], [], database)).toMatchObject({
      code: 0,
      output: '2 generations will be told to traces again\n',
    })
    expect((await run(['redeliver', 'other'], ['traces'], database)).code).toBe(1)
    expect((await run(['redeliver'], ['traces'], database)).code).toBe(2)
    expect((await run(['forget'], ['traces'], database)).code).toBe(2)
  })
})
