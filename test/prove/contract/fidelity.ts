import { cellOf } from '../../fidelity/cells.ts'
import { parts } from '../../fidelity/rows.ts'
import { pairs, type Cell } from '../../fidelity/table.ts'
import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'docs/fidelity.md: every feature between every two formats is what a request through the gateway shows',
  async run() {
    const { status, figures } = await runTests(['test/fidelity/'], { msMax: 600_000 })
    return { status, figures: [countOf(), ...figures] }
  },
}

/** Rows, and cells by what becomes of the feature. */
function countOf(): string {
  const rows = parts.flatMap((part) => part.rows)
  const counts = new Map<Cell['is'], number>()
  for (const row of rows) {
    for (const { caller, upstream } of pairs) {
      const { is } = cellOf(row, caller, upstream)
      counts.set(is, (counts.get(is) ?? 0) + 1)
    }
  }
  const shown = [...counts].map(([is, count]) => `${count} ${is}`)
  return `${rows.length} features, ${pairs.length} pairs of formats: ${shown.join(', ')}`
}
