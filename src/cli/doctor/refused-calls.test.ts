import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { captureRowOf, insertOrganization } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { captureStatements } from '../../billing/ledger/captures.ts'
import { createHold } from '../../billing/budgets/hold.ts'
import { insertLosses } from '../../billing/ledger/capture-repository.ts'
import { refundStatements } from '../../billing/ledger/refunds.ts'
import { newGenerationId } from '../../core/ids.ts'
import { RefusalNotes } from '../../storage/refusal-notes.ts'
import { listChargedRefusals, listRefusedCalls, loadHealthFacts } from './health-repository.ts'

eachDatabase((_name, open) => {
  test('the doctor lists the cost of refused calls, and calls that a dead process left charged', async () => {
    const database = await open()
    await insertOrganization(database, 'org_a', 'tracked')
    const nowMs = Date.now()
    const rows = [1, 2, 3].map(() => captureRowOf(newGenerationId('gen', nowMs), 50n, { createdAtMs: nowMs }))
    const [charged, refunded, lost] = rows.map((row) => row.generationId)
    const written = captureStatements(rows.slice(0, 2).map((row) => ({ hold: createHold(0n, []), row })))
    await database.commit({ name: 'test.capture', statements: written })
    const refund = { organizationId: 'org_a', amountNanocredits: 50n, sequence: 1, createdAtMs: nowMs }
    const given = refundStatements({ ...refund, generationId: refunded ?? '', kind: 'refund' }, [])
    const losses = insertLosses(rows.slice(2), 'voided')
    await database.commit({ name: 'test.refund', statements: [...given, losses] })

    const folder = mkdtempSync(join(tmpdir(), 'headrace-charged-'))
    const notes = new RefusalNotes(folder, 'owner_dead')
    for (const { generationId } of rows) await notes.add(generationId)
    expect(await listChargedRefusals(database, folder)).toEqual([charged ?? ''])
    rmSync(folder, { recursive: true, force: true })

    expect(await listRefusedCalls(database, 10)).toMatchObject([
      { generationId: lost, costNanocredits: 50n, outcome: 'voided' },
    ])
    expect(await loadHealthFacts(database)).toMatchObject({ refusedCalls: 1, refusedNanocredits: 50n })
  })
})
