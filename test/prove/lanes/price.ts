import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { billInvoice, invoicedItems } from '../../invoice/flex-invoice.ts'
import { billJobs, movedItems, nativeItems } from '../../invoice/native-invoice.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

export const proof: Proof = {
  title:
    'a thousand items of each native lane and of flex whose price is known: the bill, the list and the ledger are the batch or flex price by hand, and no item is paid twice when it moves',
  run: async () => combine([await compareJobs(), await compareFlex()]),
}

async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-lane-prices-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compareJobs(): Promise<ProofResult> {
  const billed = await inFolder(billJobs)
  const isRight = billed.every(
    (one) =>
      one.items === nativeItems &&
      one.captures === nativeItems &&
      one.shownNanocredits === one.invoicedNanocredits &&
      one.listedNanocredits === one.invoicedNanocredits &&
      one.ledgerNanocredits === one.invoicedNanocredits &&
      one.liveItems === (one.name.includes('moved') ? movedItems : 0),
  )
  const figures = billed.map(
    ({
      name,
      invoicedNanocredits,
      shownNanocredits,
      listedNanocredits,
      ledgerNanocredits,
      captures,
      liveItems,
    }) =>
      `${name}: by hand ${invoicedNanocredits}, batch ${shownNanocredits}, list ${listedNanocredits}, ledger ${ledgerNanocredits} nanocredits, ${captures} captures, ${liveItems} at the live price`,
  )
  return { status: isRight ? 'PASS' : 'FAIL', figures }
}

async function compareFlex(): Promise<ProofResult> {
  const billed = await inFolder(billInvoice)
  const isRight = billed.every(
    (one) =>
      one.shownNanocredits === one.invoicedNanocredits &&
      one.listedNanocredits === one.invoicedNanocredits &&
      one.ledgerNanocredits === one.invoicedNanocredits &&
      one.captures === invoicedItems,
  )
  const figures = billed.map(
    ({ name, invoicedNanocredits, shownNanocredits, captures }) =>
      `flex, ${name}: by hand ${invoicedNanocredits}, batch ${shownNanocredits} nanocredits, ${captures} captures`,
  )
  return { status: isRight ? 'PASS' : 'FAIL', figures }
}
