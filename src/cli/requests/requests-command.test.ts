import { expect, test } from 'bun:test'
import { bootstrap } from '../../access/bootstrap.ts'
import { createKeyRepository } from '../../access/key-repository.ts'
import { createKeys } from '../../access/keys.ts'
import { createOrganizationRepository } from '../../access/organization-repository.ts'
import { systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { LogRow } from '../../insight/log/log-row.ts'
import { noSums } from '../../insight/log/log-sums.ts'
import { createRequestLogRepository } from '../../insight/log/request-log-repository.ts'
import { recordingContext } from '../../../test/story/command-context.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { CliStorage } from '../context.ts'
import { runCommand } from '../run.ts'

const minuteMs = 60_000
const answered: Omit<LogRow, 'organizationId' | 'requestId'> = {
  generationId: null,
  keyId: 'key_1',
  outcome: 'answered',
  status: 200,
  errorType: null,
  operation: 'chat_completions',
  model: 'acme/large',
  provider: 'acme',
  deployment: 'acme-1',
  userId: null,
  sessionId: null,
  batchId: null,
  streamed: false,
  attempts: 1,
  inputTokens: 100,
  outputTokens: 20,
  firstByteMs: 120,
  totalMs: 1_500,
  costNanocredits: 2_500_000n,
  isEstimated: false,
  clientAddress: null,
  detailsJson: '{}',
  isKnownModel: true,
  hasTime: true,
}
const refused = { ...answered, outcome: 'refused', status: 402, errorType: 'payment_required' } as const

eachDatabase((name, _, { openFresh }) => {
  test(`on ${name}, "requests" prints the newest calls first, keeps to its filters, and names what it cannot take`, async () => {
    const { database } = await openFresh()
    const keyRepository = createKeyRepository(database)
    const organizations = createOrganizationRepository(database)
    const nothing = { creditsNanocredits: null, key: null, managementKey: null }
    const { organizationId } = await bootstrap(nothing, {
      keys: keyRepository,
      organizations,
      clock: systemClock,
    })
    const idAgo = (minutes: number) => newId('req', Date.now() - minutes * minuteMs)
    const [lately, before, longAgo, foreign] = [idAgo(1), idAgo(30), idAgo(180), idAgo(2)]
    const rows: LogRow[] = [
      { ...answered, organizationId, requestId: lately },
      { ...refused, costNanocredits: null, organizationId, requestId: before },
      { ...answered, organizationId, requestId: longAgo, model: 'acme/small' },
      { ...answered, organizationId: 'org_other', requestId: foreign },
    ]
    await createRequestLogRepository(database).write({ rows, sums: noSums, anonymous: [] })
    const storage = {
      database,
      organizations,
      keys: createKeys({ repository: keyRepository, clock: systemClock, onChange: () => undefined }),
      close: () => Promise.resolve(),
    } as unknown as CliStorage
    const run = async (...args: string[]) => {
      const context = recordingContext({ openStorage: () => Promise.resolve(storage) })
      const code = await runCommand(['requests', ...args], context)
      return { code, output: context.output(), errors: context.errors() }
    }
    const idsOf = async (...args: string[]) =>
      (await run('--json', ...args)).output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as { requestId: string }).requestId)

    expect(await idsOf()).toEqual([lately, before, longAgo])
    expect(await idsOf('--since', '1h')).toEqual([lately, before])
    expect(await idsOf('--outcome', 'refused')).toEqual([before])
    expect(await idsOf('--status', '4xx')).toEqual([before])
    expect(await idsOf('--status', '200')).toEqual([lately, longAgo])
    expect(await idsOf('--model', 'acme/small')).toEqual([longAgo])
    expect(await idsOf('--limit', '2')).toEqual([lately, before])
    const table = await run('--since', '1h')
    expect(table.code).toBe(0)
    expect(table.output).toMatch(
      /200 +answered +acme\/large +acme-1 +key_1 +100\/20 +120 ms +1\.5 s +\$?0\.0025/,
    )
    expect(table.output).toContain('payment_required')
    const wrong = await run('--outcome', 'refuzed')
    expect([wrong.code === 0, wrong.output]).toEqual([false, ''])
    expect(wrong.errors).toContain('--outcome takes answered, refused, failed, cancelled, not "refuzed"')
  })
})
