import { compareInvoice } from '../../invoice/compare.ts'
import { whyNoRecordings } from '../../recordings/recorded.ts'
import { notRun, type Proof } from '../proof.ts'

/** What the issue asks for. */
const usagesMin = 200
const shownMax = 20

export const proof: Proof = {
  title: 'what 200 replies cost is what an invoice worked out by hand says',
  run() {
    const reason = whyNoRecordings()
    if (reason !== null) return Promise.resolve(notRun(reason))
    const { recorded, written, differences, invoicedNanocredits, chargedNanocredits } = compareInvoice(true)
    const isSame = differences.length === 0 && invoicedNanocredits === chargedNanocredits
    return Promise.resolve({
      status: isSame && recorded + written >= usagesMin ? 'PASS' : 'FAIL',
      figures: [
        `${recorded} recorded usages and ${written} written after the documents (caches of two lengths, pictures, sound, prices of long prompts): ${differences.length} differences`,
        `invoiced ${invoicedNanocredits} nanocredits, charged ${chargedNanocredits}`,
        'prices of service tiers (flex, priority) are in no price data: such a tier is not asked for',
        ...differences.slice(0, shownMax).map((difference) => `WRONG: ${difference}`),
      ],
    })
  },
}
