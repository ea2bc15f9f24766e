import { counted } from '../amounts.ts'
import { createClient, readJson } from '../client.ts'
import type { CliConfig } from '../context.ts'
import type { Finding } from './finding.ts'
import { member } from '../../catalog/listing.ts'

/** How long before a provider shuts a model down the doctor warns: 60 days. */
const expirationWarningMs = 60 * 24 * 3_600_000
/** The most names and aliases that the doctor asks the gateway about, one by one. */
const doctorNamesMax = 50

/** Asks the running gateway whether each of the operator's own names and aliases stands for a served model. */
export async function* checkNames(
  baseUrl: string,
  { names, aliases }: Pick<CliConfig, 'names' | 'aliases'>,
): AsyncGenerator<Finding> {
  const written = [
    ...Object.keys(names).map((name) => ({ name, meaning: `the name "${name}"` })),
    ...Object.entries(aliases).map(([name, target]) => ({
      name,
      meaning: `the alias "${name}" of ${target}`,
    })),
  ]
  if (written.length === 0) return
  const subject = 'names'
  const client = createClient(baseUrl)
  const asked = written.slice(0, doctorNamesMax)
  let served = 0
  for (const { name, meaning } of asked) {
    const { ok, status } = await client.send(`/models/${encodeURIComponent(name)}`, { timeoutMs: 5_000 })
    if (ok) served += 1
    else if (status === 404) {
      const next = 'compare it with: npx headrace models; a gateway reads names when it starts'
      yield { level: 'problem', subject, message: `nothing serves ${meaning} now`, next }
    }
  }
  if (served === asked.length) {
    const message = `all are served: ${counted(Object.keys(names).length, 'name')} and ${counted(Object.keys(aliases).length, 'alias', 'aliases')}`
    yield { level: 'ok', subject, message, next: null }
  }
}

const modelsShownMax = 5

/** Asks the running gateway which of its models are or will soon be shut down: one warning for each day. */
export async function* checkExpirations(baseUrl: string, nowMs: number): AsyncGenerator<Finding> {
  const response = await createClient(baseUrl).send('/models?output_modalities=all', { timeoutMs: 5_000 })
  if (!response.ok) return
  const listed = member(await readJson(response), 'data')
  const byDay = new Map<string, string[]>()
  for (const model of Array.isArray(listed) ? listed : []) {
    const [id, day] = [member(model, 'id'), member(model, 'expiration_date')]
    if (typeof id !== 'string' || typeof day !== 'string') continue
    // A model's `:batch` entry ends together with the model.
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
