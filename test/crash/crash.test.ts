import { describe, expect, test } from 'bun:test'
import { isThorough } from '../support/thorough.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { runCampaign } from './campaign.ts'
import { toldPoints as allToldPoints } from './sites.ts'
import { type CrashSite, keyOfPoint } from './crash-plan.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

/**
 * A slice of the proof: where results become real on one database, and money on the other. `npm run prove -- kills` does all the
 * points on both.
 */
const points: Readonly<Record<DialectName, string>> = { sqlite: 'part.commit', postgres: 'ledger.capture' }
/** Where it is noted what was told of captures; in a small sample one of the points, on one database. */
const toldPoints: Readonly<Record<DialectName, readonly string[]>> = isThorough
  ? { sqlite: allToldPoints, postgres: allToldPoints }
  : { sqlite: ['broadcast.record'], postgres: [] }
const databases: readonly DialectName[] = whyNoPostgres() === null ? ['sqlite', 'postgres'] : ['sqlite']
const msMax = 60_000

for (const database of databases) {
  const sites: readonly CrashSite[] = [points[database], ...toldPoints[database]].flatMap((point) => [
    { point, when: 'before' as const },
    { point, when: 'after' as const },
  ])
  describe(database, () => {
    test(
      'a gateway killed before and after what makes money or results real, or tells of it, keeps every promise',
      async () => {
        const { hits, problems } = await runCampaign({ database, processes: 1, sites, hits: 1, msMax })
        expect(problems).toEqual([])
        expect(sites.map(keyOfPoint).filter((key) => !hits.has(key))).toEqual([])
      },
      3 * msMax,
    )
  })
}
