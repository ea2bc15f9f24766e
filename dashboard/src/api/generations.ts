import { call } from './client.ts'

const triesMax = 6
const tryEveryMs = 300

/** What a generation cost, in credits; null where it has no row soon after its answer. */
export async function costOf(generationId: string | null): Promise<number | null> {
  if (generationId === null) return null
  for (let count = 0; count < triesMax; count += 1) {
    try {
      return (await call('GET /generation', { query: { id: generationId } })).data.total_cost
    } catch {
      await new Promise((resolve) => setTimeout(resolve, tryEveryMs))
    }
  }
  return null
}
