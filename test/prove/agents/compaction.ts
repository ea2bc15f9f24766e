import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'a compaction opens on every model of its organization, in no other, and not with a byte changed; what the model is told then',
  run: () => runTests(['test/contract/compaction', 'src/http/sockets'], { msMax: 120_000 }),
}
