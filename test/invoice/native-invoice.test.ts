import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { billJobs, movedItems, nativeItems } from './native-invoice.ts'
import { isThorough } from '../support/thorough.ts'

const reason = 'a thousand items of each batch service are billed in the proof lanes/price'
if (!isThorough) console.log(`skipped: ${reason}`)

test.skipIf(!isThorough)(
  'a thousand items of each batch service cost the price of its list, and an item that moved is paid once',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-native-invoice-'))
    try {
      for (const billed of await billJobs(folder)) {
        const { name, invoicedNanocredits: invoiced } = billed
        expect([name, billed.items, billed.captures]).toEqual([name, nativeItems, nativeItems])
        expect([name, billed.shownNanocredits]).toEqual([name, invoiced])
        expect([name, billed.listedNanocredits]).toEqual([name, invoiced])
        expect([name, billed.ledgerNanocredits]).toEqual([name, invoiced])
        expect([name, billed.liveItems]).toEqual([name, name.includes('moved') ? movedItems : 0])
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  900_000,
)
