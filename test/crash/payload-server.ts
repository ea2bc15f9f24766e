/**
 * Batches on PostgreSQL and S3 under kills: two gateways without a folder in common, killed before and after every point
 * at which a payload or a row of a batch becomes durable. `payload-server.ts [hits]`. Prints figures; exits with 1 when a
 * point was hit too seldom or anything was not as promised.
 */
import { whyNoPostgres } from '../support/postgres.ts'
import { whyNoS3 } from '../support/s3-server.ts'
import { runCampaign } from './campaign.ts'
import { keyOfPoint } from './crash-plan.ts'
import { allSites } from './sites.ts'

const msMax = 420_000
const chosen = /^(?:blob|part)\.|^segment\.(?:lease|merge)$|^batch\.(?:accept|start|finalize|purge)$/
const [hitsText = '1'] = process.argv.slice(2)
const hits = Number(hitsText)
const missing = whyNoS3() ?? whyNoPostgres()
if (missing !== null) {
  console.log(`NOT RUN: ${missing}`)
  process.exit(1)
}

const sites = allSites.filter(({ point }) => chosen.test(point))
const {
  hits: counted,
  problems,
  figures,
} = await runCampaign({
  database: 'postgres',
  payloads: 's3',
  processes: 2,
  sites,
  hits,
  msMax,
})
const { kills, batches, calls, seconds } = figures
console.log(
  `PostgreSQL and S3, 2 processes: ${kills} kills at ${sites.length} places, ${batches} batches and ${calls} live calls in ${seconds} s; ${problems.length} problems`,
)
const seldom = sites.map(keyOfPoint).filter((key) => (counted.get(key) ?? 0) < hits)
for (const key of seldom) console.log(`WRONG: ${key} was hit ${counted.get(key) ?? 0} times`)
for (const problem of problems.slice(0, 20)) console.log(`WRONG: ${problem}`)
process.exit(seldom.length === 0 && problems.length === 0 ? 0 : 1)
