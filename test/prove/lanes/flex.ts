import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { billInvoice, invoicedItems } from '../../invoice/flex-invoice.ts'
import { runSuite, runTests } from '../command.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

export const proof: Proof = {
  title:
    'the flex lane: a thousand items at OpenAI and Gemini cost the flex price by hand, a full tier waits and moves, ten kills leave each item one result and one capture',
  run: async () =>
    combine([
      await compareInvoices(),
      await runTests(['src/batches/lanes', 'test/contract/flex-lane'], { msMax: 300_000 }),
      await runSuite('test/crash/flex-batch.ts', { msMax: 900_000 }),
    ]),
}

async function compareInvoices(): Promise<ProofResult> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-flex-invoice-'))
  try {
    const billed = await billInvoice(folder)
    const isRight = billed.every(
      (one) =>
        one.shownNanocredits === one.invoicedNanocredits &&
        one.listedNanocredits === one.invoicedNanocredits &&
        one.ledgerNanocredits === one.invoicedNanocredits &&
        one.captures === invoicedItems &&
        one.askedOtherwise === 0,
    )
    const figures = billed.map(
      ({ name, invoicedNanocredits, shownNanocredits, listedNanocredits, ledgerNanocredits, captures }) =>
        `${name}: invoice ${invoicedNanocredits}, batch ${shownNanocredits}, list ${listedNanocredits}, ledger ${ledgerNanocredits} nanocredits, ${captures} captures`,
    )
    return { status: isRight ? 'PASS' : 'FAIL', figures }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
