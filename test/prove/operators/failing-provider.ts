import { prepareGateway } from '../../story/real-gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../../support/scripted-upstream.ts'
import type { RealGateway } from '../../story/real-gateway.ts'
import { askChat, chatAnswer, chatProvider, logOf, metricsOf, proofKey } from '../observed-gateway.ts'
import { observation, type Check } from '../observations.ts'

/** A deployment has recovered when nothing of it has failed for so long. */
const failureMemoryMs = 30_000

export const proof = observation({
  title: 'a failing provider is seen: counts by error, one warning per change, its own words in the log',
  async observe(): Promise<Check[]> {
    const upstream = startScriptedUpstream()
    const gateway = prepareGateway({ providers: [chatProvider(upstream.url)] })
    try {
      await gateway.start({ HEADRACE_BOOTSTRAP_KEY: proofKey })
      return await watch(gateway, upstream)
    } finally {
      await gateway.remove()
      await upstream.stop()
    }
  },
})

const said = (message: string, status: number) => () =>
  Response.json({ error: { message, type: 'server_error' } }, { status })

async function watch(gateway: RealGateway, upstream: ScriptedUpstream): Promise<Check[]> {
  upstream.answer(said('Shard blue lost its weights while it read "my secret diary".', 500))
  for (let call = 0; call < 2; call += 1) await askChat(gateway, { prompt: 'Read my secret diary.' })
  const attempts = countsOf(await metricsOf(gateway))
  const failing = await logOf(gateway)
  const opened = warningsOf(failing)
  // Without a line for the failure there is none for its end, and nothing to wait for.
  if (opened.length > 0) await Bun.sleep(failureMemoryMs)
  upstream.answer(() => Response.json(chatAnswer))
  await askChat(gateway)
  const recovered = warningsOf(await logOf(gateway)).slice(opened.length)
  upstream.answer(said('Incorrect API key provided.', 401))
  for (let call = 0; call < 2; call += 1) await askChat(gateway)
  const lost = warningsOf(await logOf(gateway)).slice(opened.length + recovered.length)
  const words = failing.filter((line) => JSON.stringify(line).includes('Shard blue lost its weights'))
  const repeats = JSON.stringify(failing).includes('secret diary')
  return [
    {
      name: 'failed attempts count by deployment, model, outcome and error type',
      held: attempts.some((line) => /deployment="acme".*failed.*provider_failed.* [1-9]/.test(line)),
      seen: attempts.join('; ') || 'no such count',
    },
    { name: 'a deployment that begins to fail is one warning', ...one(opened) },
    { name: 'a deployment that recovers is one warning', ...one(recovered) },
    { name: 'a deployment that loses its credential is one warning', ...one(lost) },
    {
      name: "the provider's own words are in the log, the caller's are not",
      held: words.length > 0 && !repeats,
      seen: `${words.length} lines${repeats ? ', with what the caller wrote' : ''}`,
    },
  ]
}

const one = (lines: readonly string[]) => ({
  held: lines.length === 1,
  seen: lines.join('; ') || 'no warning',
})

function countsOf(metrics: string): string[] {
  return metrics.split('\n').filter((line) => line.startsWith('headrace_') && line.includes('outcome="'))
}

function warningsOf(lines: readonly Record<string, unknown>[]): string[] {
  return lines
    .filter(({ level, deployment }) => level === 'warn' && deployment === 'acme')
    .map(({ msg }) => String(msg))
}
