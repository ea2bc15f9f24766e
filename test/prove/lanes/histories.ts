import { runTests } from '../command.ts'
import { combine, type Proof } from '../proof.ts'

/** Two parts at once, as the histories mostly wait. */
const parts = 2
const historiesOfPart = 5_000
const onPostgresOfPart = 250
const msMax = 5_400_000

export const proof: Proof = {
  title:
    'ten thousand histories of a batch in any lane, drawn by seeds: faults of its provider, deaths, cancellations, endpoints removed; each ends with one result and one capture an item, and leaves nothing',
  run: async () =>
    combine(
      await Promise.all(
        Array.from({ length: parts }, (_, part) =>
          runTests(['test/simulation/histories'], {
            msMax,
            env: {
              HEADRACE_SIMULATION_SEEDS: String(historiesOfPart),
              HEADRACE_SIMULATION_POSTGRES_SEEDS: String(onPostgresOfPart),
              HEADRACE_SIMULATION_FIRST: String(1 + part * historiesOfPart),
            },
          }),
        ),
      ),
    ),
}
