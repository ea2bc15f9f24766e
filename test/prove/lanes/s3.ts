import { whyNoPostgres } from '../../support/postgres.ts'
import { whyNoS3 } from '../../support/s3-server.ts'
import { runSuite, runTests } from '../command.ts'
import { compareUploads } from '../payload-uploads.ts'
import { combine, notRun, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'payloads on a real S3 server that checks signatures: the cases of the folder, failures, two gateways without a shared disk, kills, 200 MB within three times the floor',
  async run() {
    const missing = whyNoS3() ?? whyNoPostgres()
    if (missing !== null) return notRun(missing)
    return combine([
      await runTests(['src/storage/blobs', 'src/storage/blob-identity', 'test/e2e/payload-server'], {
        msMax: 600_000,
      }),
      await runSuite('test/crash/payload-server.ts', { msMax: 900_000 }),
      await compareUploads(),
    ])
  },
}
