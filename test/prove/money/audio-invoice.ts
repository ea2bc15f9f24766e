import { compareAudioInvoice } from '../../invoice/compare-audio.ts'
import type { Proof } from '../proof.ts'

/** What the issue asks for. */
const usagesMin = 40
const shownMax = 20

export const proof: Proof = {
  title: 'what audio costs is what an invoice worked out by hand says',
  run() {
    const { rows, differences, invoicedNanocredits, chargedNanocredits } = compareAudioInvoice()
    const isSame = differences.length === 0 && invoicedNanocredits === chargedNanocredits
    return Promise.resolve({
      status: isSame && rows >= usagesMin ? 'PASS' : 'FAIL',
      figures: [
        `${rows} usages by the second, minute, hour, character, byte and token, with least times, steps, channels and surcharges: ${differences.length} differences`,
        `invoiced ${invoicedNanocredits} nanocredits, charged ${chargedNanocredits}`,
        ...differences.slice(0, shownMax).map((difference) => `WRONG: ${difference}`),
      ],
    })
  },
}
