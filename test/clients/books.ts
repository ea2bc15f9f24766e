import type { ProofResult } from '../prove/proof.ts'
import type { ClientsWorld } from './world.ts'

/** Whether a logged call was charged for what it used. */
export function isCharged({
  cost,
  input_tokens: input,
  output_tokens: output,
  operation,
}: Record<string, unknown>): boolean {
  // Vectors have no tokens of output.
  return Number(cost) > 0 && Number(input) > 0 && (Number(output) > 0 || operation === 'embeddings')
}

/** Every call that was charged has one row in the ledger, the rows come to what was spent, and nothing is held any more. */
export async function judgeBooks(world: ClientsWorld): Promise<ProofResult> {
  const charged = (await world.requestLines()).filter(isCharged)
  const { generations, spentCredits, liveHolds } = await world.books()
  const rows = generations.filter(({ total_cost: cost }) => Number(cost) > 0)
  const sum = rows.reduce((total, { total_cost: cost }) => total + Number(cost), 0)
  const areSame =
    new Set(rows.map(({ id }) => id)).size === rows.length &&
    rows.length === charged.length &&
    rows.length > 0
  const isExact = Math.abs(sum - spentCredits) < 1e-9
  const isGood = areSame && isExact && liveHolds === 0
  const told = `${charged.length} calls charged, ${rows.length} rows in the ledger that come to ${sum.toFixed(9)} of ${spentCredits.toFixed(9)} credits spent, ${liveHolds} live holds`
  return {
    status: isGood ? 'PASS' : 'FAIL',
    figures: [`the books ${isGood ? 'hold' : 'DO NOT HOLD'}: ${told}`],
  }
}
