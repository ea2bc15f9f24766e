import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'the response cache does what the contract says, a sentence at a time: free hits with a generation of their own, never shared, off under zero data retention; 10,000 entries within the bounds, in every process and after a restart',
  run: async () =>
    combine([
      await runTests(['src/execution/cached', 'test/contract/response-cache.test'], { msMax: 900_000 }),
      await runTests(['test/contract/response-cache-kept'], { msMax: 900_000, env: thoroughEnvironment }),
    ]),
}
