/**
 * Sends every recorded reply of a provider through the gateway of the checkout that this file lies in, to callers of all
 * formats, and prints what was asked, told and booked: a line of JSON for each, with ids and times made alike. It imports
 * only what has had its place for long, so that it runs in an older checkout too.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listExchanges, presetOfVendor, toReply } from './outside.ts'
import { listReplies, type RecordedReply } from './recorded.ts'
import { startTestGateway } from '../support/gateway.ts'
import { openLedgerView } from '../support/ledger-view.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

const prices = {
  input_per_million: '1000',
  cached_input_per_million: '100',
  cache_write_per_million: '1250',
  output_per_million: '4000',
}

const callers: readonly { path: string; bodyOf: (model: string) => Record<string, unknown> }[] = [
  {
    path: '/chat/completions',
    bodyOf: (model) => ({ model, messages: [{ role: 'user', content: prompt }] }),
  },
  { path: '/responses', bodyOf: (model) => ({ model, input: prompt }) },
  {
    path: '/messages',
    bodyOf: (model) => ({ model, max_tokens: 9_000, messages: [{ role: 'user', content: prompt }] }),
  },
]
const prompt = 'word '.repeat(2_000)

function answerOf({ bytes, isStream }: RecordedReply): Response {
  const type = isStream ? 'text/event-stream' : 'application/json'
  return new Response(bytes, { headers: { 'content-type': type } })
}

const ownIds = /(gen(?:-[a-z]+)?-\d+-[0-9a-z]{20}|\b[a-z]+_[0-9a-z]{24}\b)/g
const times =
  /"(created|created_at|completed_at|latency|latency_ms|generation_time|duration_ms|at_ms|ms)":\d+(\.\d+)?/g

/** What differs from one run to the next is written alike: ids by the order of their appearance. */
function alike(text: string): string {
  const ids = new Map<string, string>()
  return text
    .replace(ownIds, (id) => {
      const known = ids.get(id) ?? `<id ${ids.size + 1}>`
      ids.set(id, known)
      return known
    })
    .replace(times, '"$1":0')
}

const folder = mkdtempSync(join(tmpdir(), 'headrace-replay-'))
const upstream = startScriptedUpstream()
/** Recorded at hosts that an older checkout has no preset of. */
const replayedAs: Readonly<Record<string, string>> = {
  'vertex-ai': 'google-ai-studio',
  'amazon-bedrock-mantle': 'custom',
}
const presets = ['anthropic', 'openai', 'groq', 'mistral', 'deepseek', 'xai', 'google-ai-studio', 'custom']
const gateway = await startTestGateway({
  folder,
  credits: '100000',
  providers: () =>
    presets.map((preset) => ({
      preset,
      ...(preset === 'custom' ? { id: 'custom' } : {}),
      base_url: upstream.url,
      api_key: 'key-of-a-test',
      weight: 1,
      discover: false,
      models: [{ id: `${preset}/recorded`, upstream: 'recorded', prices }],
    })),
})
const ledger = await openLedgerView(folder)
const outside = listExchanges().flatMap((exchange) => {
  const reply = toReply(exchange)
  const preset = presetOfVendor(exchange)
  return reply === null ? [] : [{ ...reply, preset: replayedAs[preset] ?? preset }]
})
for (const reply of [...listReplies(), ...outside]) {
  const askedPresets =
    reply.format === 'chat' && reply.preset !== 'custom' ? [reply.preset, 'custom'] : [reply.preset]
  for (const preset of askedPresets.filter((each) => presets.includes(each))) {
    for (const { path, bodyOf } of callers) {
      upstream.seen.length = 0
      upstream.answer(() => answerOf(reply))
      const { status, text } = await gateway.post(path, {
        ...bodyOf(`${preset}/recorded`),
        stream: reply.isStream,
      })
      const booked = (await ledger.takeNew()).map(({ generationId: _id, costNanocredits, ...row }) => ({
        ...row,
        cost: costNanocredits.toString(),
      }))
      const asked = upstream.seen.map((seen) => [seen.path, alike(seen.body)])
      const line = { name: `${reply.name} of ${preset} to ${path}`, asked, status, told: alike(text), booked }
      process.stdout.write(`${JSON.stringify(line)}\n`)
    }
  }
}
await ledger.close()
await gateway.stop()
await upstream.stop()
rmSync(folder, { recursive: true, force: true })
