import type { InvoiceRow } from './invoice.ts'
import type { ListedPrices } from './price-lists.ts'

const nanocreditsDigits = 9
const tokensOfPrice = 1_000_000n

/** A price such as `0.125` USD in whole nanocredits; the arithmetic of this file shares nothing with the gateway's. */
function nanocredits(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(nanocreditsDigits, '0'))
}

/** Half to even, as the ledger rounds. */
function rounded(millionths: bigint): bigint {
  const whole = millionths / tokensOfPrice
  const twice = (millionths % tokensOfPrice) * 2n
  if (twice > tokensOfPrice || (twice === tokensOfPrice && whole % 2n === 1n)) return whole + 1n
  return whole
}

/** What a row of the invoice comes to at the prices of its model, in whole nanocredits. */
export function amountOf(
  [, , input, cached, written, forAnHour, inputAudio, output, outputAudio]: InvoiceRow,
  listed: ListedPrices,
): bigint {
  const all = input + cached + written + forAnHour + inputAudio
  const long = listed.long && all > listed.long.above ? listed.long : null
  const terms: readonly [tokens: number, price: string | undefined][] = [
    [input, long?.input ?? listed.input],
    [cached, long?.cached ?? listed.cached],
    [written, long?.written ?? listed.written],
    [forAnHour, listed.writtenForAnHour],
    [inputAudio, listed.inputAudio],
    [output, long?.output ?? listed.output],
    [outputAudio, listed.outputAudio],
  ]
  let sum = 0n
  for (const [tokens, price] of terms) {
    if (tokens === 0) continue
    if (price === undefined) throw new Error('a unit of the invoice has no price in the lists')
    sum += BigInt(tokens) * nanocredits(price)
  }
  return rounded(sum)
}
