import { notCarried } from '../../moving/expected.ts'
import { keyCount } from '../../moving/litellm-tables.ts'
import { whyNoPostgres } from '../../support/postgres.ts'
import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import { notRun, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'a LiteLLM proxy of 14 deployments, 3 chains and 312 keys is carried over, and what is not is listed',
  async run() {
    const reason = whyNoPostgres()
    if (reason !== null) return notRun(reason)
    const result = await runTests(['test/moving/'], { msMax: 300_000, env: thoroughEnvironment })
    const carried = `${keyCount} client keys unchanged, ${notCarried.length} lines of what was not carried, on SQLite and PostgreSQL`
    return { ...result, figures: [carried, ...result.figures] }
  },
}
