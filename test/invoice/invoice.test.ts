import { expect, test } from 'bun:test'
import { whyNoRecordings } from '../recordings/recorded.ts'
import { compareAudioInvoice } from './compare-audio.ts'
import { compareInvoice } from './compare.ts'
import { invoice } from './invoice.ts'
import { writtenUsages } from './written-replies.ts'

const reason = whyNoRecordings()
if (reason !== null) console.log(`${reason}; only written replies are compared with the invoice`)

test('what replies cost is what an invoice that was worked out by hand says, to the nanocredit', () => {
  const { differences, invoicedNanocredits, chargedNanocredits } = compareInvoice(reason === null)
  expect(differences).toEqual([])
  expect(chargedNanocredits).toBe(invoicedNanocredits)
})

test('the invoice has every written reply, and each reply once', () => {
  const names = invoice.map(([name]) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => name.startsWith('written/')).toSorted()).toEqual(
    Object.keys(writtenUsages).toSorted(),
  )
})

test('what audio costs is what an invoice that was worked out by hand says, to the nanocredit', () => {
  const { rows, differences, invoicedNanocredits, chargedNanocredits } = compareAudioInvoice()
  expect(differences).toEqual([])
  expect(chargedNanocredits).toBe(invoicedNanocredits)
  expect(rows).toBeGreaterThanOrEqual(40)
})
