import { runTests } from '../command.ts'
import { notRun, type Proof } from '../proof.ts'
import { whyNoPostgres } from '../../support/postgres.ts'
import { whyNoS3 } from '../../support/s3-server.ts'

export const proof: Proof = {
  title:
    'payloads on a real S3 server that checks signatures: the cases of the folder, failures, two gateways on PostgreSQL without a shared disk',
  async run() {
    const missing = whyNoS3() ?? whyNoPostgres()
    if (missing !== null) return notRun(missing)
    return runTests(['src/storage/blobs', 'src/storage/blob-identity', 'test/e2e/payload-server'], {
      msMax: 600_000,
    })
  },
}
