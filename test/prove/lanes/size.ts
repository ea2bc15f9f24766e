import { whyNoS3 } from '../../support/s3-server.ts'
import { notRun, type Proof } from '../proof.ts'
import { measureSizes } from '../result-sizes.ts'

export const proof: Proof = {
  title: 'an item of 20 MB, and results of 1 GB in flat memory, with payloads in a folder and on S3',
  async run() {
    const missing = whyNoS3()
    return missing === null ? measureSizes() : notRun(missing)
  },
}
