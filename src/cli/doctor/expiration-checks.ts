import { expirationWarningMs } from '../../core/limits/cli.ts'
import { member } from '../../catalog/listing.ts'
import { createClient, readJson } from '../client.ts'
import type { Finding } from './finding.ts'

const modelsShownMax = 5

/** Asks the running gateway which of its models are shut down soon, or have been: a warning for each day. */
export async function* checkExpirations(baseUrl: string, nowMs: number): AsyncGenerator<Finding> {
  const response = await createClient(baseUrl).send('/models?output_modalities=all', { timeoutMs: 5_000 })
  if (!response.ok) return
  const listed = member(await readJson(response), 'data')
  const byDay = new Map<string, string[]>()
  for (const model of Array.isArray(listed) ? listed : []) {
    const [id, day] = [member(model, 'id'), member(model, 'expiration_date')]
    if (typeof id !== 'string' || typeof day !== 'string') continue
    // An entry for batches ends with its model.
    if (id.endsWith(':batch') || Date.parse(day) - nowMs > expirationWarningMs) continue
    byDay.set(day, [...(byDay.get(day) ?? []), id])
  }
  for (const [day, ids] of [...byDay].toSorted(([left], [right]) => (left < right ? -1 : 1))) {
    const more = ids.length > modelsShownMax ? ` and ${ids.length - modelsShownMax} more` : ''
    yield {
      level: 'warning',
      subject: 'models',
      message: `shut down by their provider on ${day}: ${ids.slice(0, modelsShownMax).join(', ')}${more}`,
      next: 'move what still asks for them to another model, or add a provider that goes on serving them',
    }
  }
}
