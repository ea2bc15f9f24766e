import { expect, test } from 'bun:test'
import { bootstrap } from '../../access/bootstrap.ts'
import { createKeyRepository } from '../../access/key-repository.ts'
import { createKeys } from '../../access/keys.ts'
import { createOrganizationRepository } from '../../access/organization-repository.ts'
import { systemClock } from '../../core/clock.ts'
import { recordingContext } from '../../../test/story/command-context.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { CliStorage } from '../context.ts'
import { runCommand } from '../run.ts'

const nothing = { creditsNanocredits: null, key: null, managementKey: null }

eachDatabase((name, _, { openFresh }) => {
  test(`on ${name}, lines for a spreadsheet have the input that was read from a cache and written to it`, async () => {
    const { database } = await openFresh()
    const repository = createKeyRepository(database)
    const organizations = createOrganizationRepository(database)
    const { organizationId } = await bootstrap(nothing, {
      keys: repository,
      organizations,
      clock: systemClock,
    })
    const rows = [
      { input: 1_000, cached: 600, written: 300, hour: 100, cost: 5_000_000_000n },
      { input: 500, cached: 100, written: null, hour: null, cost: 250_000_000n },
    ]
    await database.commit({
      name: 'usages of a test',
      statements: rows.map(({ input, cached, written, hour, cost }, index) => ({
        sql: `insert into usages (day, generation_id, organization_id, key_id, operation, model, provider, endpoint_id,
          status, is_estimated, is_unpriced, input_tokens, cached_input_tokens, cache_write_tokens,
          cache_write_hour_tokens, output_tokens, cost_nanocredits, held_nanocredits, price_id, streamed, cancelled,
          created_at_ms) values (20000, $1, $2, 'key_1', 'chat', 'acme/large', 'acme', 'one', 'completed', 0, 0,
          $3, $4, $5, $6, 20, $7, 0, 'price', 0, 0, $8)`,
        params: [`gen-${index}`, organizationId, input, cached, written, hour, cost, Date.now()],
      })),
    })
    const storage = {
      database,
      organizations,
      keys: createKeys({ repository, clock: systemClock, onChange: () => undefined }),
      close: () => Promise.resolve(),
    } as unknown as CliStorage
    const context = recordingContext({ openStorage: () => Promise.resolve(storage) })
    expect(await runCommand(['usage', '--by', 'key', '--csv'], context)).toBe(0)
    expect(context.output()).toBe(
      `key,key_name,requests,input_tokens,output_tokens,audio_seconds,characters,estimated,unpriced,cost_usd,cached_tokens,cache_write_tokens,cache_write_hour_tokens
key_1,,2,1500,40,0,0,0,0,5.25,700,300,100
`,
    )
  })
})
