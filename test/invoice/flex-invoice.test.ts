import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { billInvoice, invoicedItems } from './flex-invoice.ts'

test('a thousand items of the flex lane cost what the invoice says that was worked out by hand, everywhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-flex-invoice-'))
  try {
    for (const billed of await billInvoice(folder)) {
      const { name, invoicedNanocredits: invoiced } = billed
      expect([name, billed.shownNanocredits]).toEqual([name, invoiced])
      expect([name, billed.listedNanocredits]).toEqual([name, invoiced])
      expect([name, billed.ledgerNanocredits]).toEqual([name, invoiced])
      expect([name, billed.captures, billed.askedOtherwise]).toEqual([name, invoicedItems, 0])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
