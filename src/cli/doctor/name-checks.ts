import { doctorNamesMax } from '../../core/limits/cli.ts'
import { counted } from '../amounts.ts'
import { createClient } from '../client.ts'
import type { CliConfig } from '../context.ts'
import type { Finding } from './finding.ts'

/** Asks the running gateway for the operator's own names and aliases: each is to stand for something that is served. */
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
