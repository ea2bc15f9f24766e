import { expect, test } from 'bun:test'
import { eachDatabase } from '../../../test/support/databases.ts'
import { newId } from '../../core/ids.ts'
import { sumsOf } from '../../insight/log/log-sums.ts'
import type { LogRow } from '../../insight/log/log-row.ts'
import { createRequestLogRepository } from '../../insight/log/request-log-repository.ts'
import type { DeploymentReport } from '../../insight/state/process-report.ts'
import { createProcessStateRepository } from '../../insight/state/process-state-repository.ts'
import type { CliStorage } from '../context.ts'
import { checkDeployments, failingCallsMin } from './deployment-checks.ts'
import type { Finding } from './finding.ts'

const report = (id: string, more: Partial<DeploymentReport>): DeploymentReport => ({
  id,
  state: 'healthy',
  sinceMs: null,
  nextTryMs: null,
  lastError: null,
  models: 1,
  running: 0,
  waiting: 0,
  limit: null,
  ...more,
})

function failed(provider: string, outcome: 'failed' | 'answered' = 'failed'): LogRow {
  const none = {
    generationId: null,
    errorType: null,
    operation: null,
    userId: null,
    sessionId: null,
    batchId: null,
  }
  return {
    ...none,
    organizationId: 'org_a',
    requestId: newId('req', Date.now()),
    keyId: 'key_a',
    outcome,
    status: 502,
    model: 'maker/model',
    provider,
    deployment: provider,
    streamed: false,
    attempts: 1,
    inputTokens: 0,
    outputTokens: 0,
    firstByteMs: null,
    totalMs: 5,
    costNanocredits: null,
    isEstimated: false,
    clientAddress: null,
    detailsJson: '{}',
    isKnownModel: true,
    hasTime: true,
  }
}

eachDatabase((name, _open, { openFresh }) => {
  test(`on ${name}, a refused key and a provider that fails all its calls are problems with a next step`, async () => {
    const { database } = await openFresh()
    const findings = async () => {
      const found: Finding[] = []
      for await (const finding of checkDeployments({ database } as unknown as CliStorage)) found.push(finding)
      return found
    }
    expect(await findings()).toEqual([])
    const lastError = { type: 'provider_failed', status: 502, message: 'bad key', atMs: 5 }
    const states = createProcessStateRepository(database)
    const process = {
      host: 'box',
      pid: 1,
      version: '1',
      role: 'all',
      requestsRunning: 0,
      storageQueue: 0,
      capturesQueued: 0,
      logQueued: 0,
      logDropped: 0,
    }
    await states.write('owner_a', 5, { ...process, deployments: [report('one', {})] })
    expect(await findings()).toMatchObject([{ level: 'ok', message: '1 healthy' }])
    const deployments = [report('one', {}), report('two', { state: 'out', lastError })]
    const members = ['maker/model at two']
    const deadNames = [
      { name: 'fast', members, isServed: true, hasOthers: true },
      { name: 'old', members: ['maker/gone'], isServed: false, hasOthers: true },
    ]
    await states.write('owner_a', 5, { ...process, deployments, deadNames })
    const rows = [
      ...Array.from({ length: failingCallsMin }, () => failed('dead')),
      ...Array.from({ length: failingCallsMin }, () => failed('half')),
      failed('half', 'answered'),
      failed('once'),
    ]
    await createRequestLogRepository(database).write({ rows, sums: sumsOf(rows), anonymous: [] })
    expect(await findings()).toMatchObject([
      { level: 'problem', message: 'two is refused: bad key (502)', next: expect.stringContaining('"two"') },
      {
        level: 'problem',
        message: expect.stringContaining('dead failed all 3 calls'),
        next: expect.any(String),
      },
      {
        level: 'problem',
        subject: 'names',
        message: 'the first group of "fast" fails (maker/model at two); its calls go to the groups behind it',
        next: expect.stringContaining('--model maker/model '),
      },
      {
        level: 'problem',
        subject: 'names',
        message: expect.stringContaining('the first group of "old" is not served (maker/gone)'),
        next: expect.stringContaining('npx headrace models'),
      },
    ])
  })
})
