import { pairs } from '../../fidelity/table.ts'
import { proof as tableProof } from './fidelity.ts'
import type { Proof } from '../proof.ts'

/** Three formats of callers, six of providers. */
const pairsWanted = 18

export const proof: Proof = {
  title: 'docs/fidelity.md is complete: three callers, six upstreams, no empty cell',
  async run() {
    const { status, figures } = await tableProof.run()
    if (pairs.length === pairsWanted) return { status, figures }
    return { status: 'FAIL', figures: [`${pairs.length} pairs, not ${pairsWanted}`, ...figures] }
  },
}
