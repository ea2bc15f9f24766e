/**
 * Proof 4.3, second half: recorded replies as the reply of a provider that the running gateway asks, through every
 * caller's format; what the caller is told, and what the ledger took for it. Prints figures; exits with 1 when
 * anything is otherwise than the provider said.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProviderConfig } from '../../src/config-file.ts'
import { chooseInterface } from '../../src/formats/text/text-interface.ts'
import { presetOf } from '../../src/providers/deployments.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { openLedgerView, type LedgerView } from '../support/ledger-view.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'
import { callers, type Caller } from './expected.ts'
import { listReplies, type RecordedReply } from './recorded.ts'
import { problemsOf, toldByReply } from './replay.ts'

/** Replies of more tokens than a test wants to send a prompt for are left out, and counted. */
const inputTokensMax = 30_000
const prices = {
  input_per_million: '1000',
  cached_input_per_million: '100',
  cache_write_per_million: '1250',
  output_per_million: '4000',
}
const shownProblemsMax = 40

function providersAt(url: string): ProviderConfig[] {
  const presets = ['anthropic', 'openai', 'groq', 'mistral', 'deepseek', 'xai']
  const row = { base_url: url, api_key: 'key-of-a-test', weight: 1, discover: false }
  return [
    ...[...presets, 'google-ai-studio'].map((preset) => ({
      ...row,
      preset,
      models: [{ id: `${preset}/recorded`, upstream: 'recorded', prices }],
    })),
    {
      ...row,
      preset: 'custom',
      id: 'custom',
      models: [{ id: 'custom/recorded', upstream: 'recorded', prices }],
    },
  ]
}

/** Three reads for a stream, so that it begins before it has ended. */
function answerOf({ bytes, isStream }: RecordedReply): Response {
  if (!isStream) return new Response(bytes, { headers: { 'content-type': 'application/json' } })
  const third = Math.ceil(bytes.length / 3)
  const pieces = [0, third, 2 * third].map((from) => bytes.subarray(from, from + third))
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces.shift()
      if (piece) controller.enqueue(piece)
      else controller.close()
      await Bun.sleep(1)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const paths: Readonly<Record<Caller, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}

/**
 * The preset that is asked in the format of a reply by this caller: its own, or where that is asked in another format
 * the one that has chat alone. Null where none is.
 */
function presetAsked({ preset, format }: RecordedReply, caller: Caller): string | null {
  const names = { model: `${preset}/recorded`, upstreamModel: 'recorded' }
  const { language = [] } = presetOf(preset).adapters
  const asked = chooseInterface(language, { ...names, format: caller, parameters: [] })
  if (asked?.format === format) return preset
  return format === 'chat' ? 'custom' : null
}

/** A prompt of as many tokens as the recorded one had, so that the provider's count is believed. */
function requestOf(
  { preset, isStream }: Pick<RecordedReply, 'preset' | 'isStream'>,
  caller: Caller,
  inputTokens: number,
): unknown {
  const text = 'word '.repeat(Math.max(1, inputTokens))
  const messages = [{ role: 'user', content: text }]
  const asked = { model: `${preset}/recorded`, stream: isStream }
  return caller === 'responses' ? { ...asked, input: text } : { ...asked, messages }
}

interface Running {
  gateway: TestGateway
  upstream: ScriptedUpstream
  ledger: LedgerView
}

async function replayLive(reply: RecordedReply, caller: Caller, running: Running): Promise<string[]> {
  const { gateway, upstream, ledger } = running
  const { usage } = toldByReply(reply)
  const preset = presetAsked(reply, caller)
  if (preset === null) return []
  upstream.answer(() => answerOf(reply))
  const request = requestOf({ ...reply, preset }, caller, usage?.input ?? 1)
  const { status, text } = await gateway.post(paths[caller], request)
  const name = `${reply.name} to ${caller}, live`
  if (status !== 200) return [`${name}: ${status} ${text.slice(0, 300)}`]
  const isBroken = text.includes('event: error') || text.includes('"finish_reason":"error"')
  if (isBroken) return [`${name}: ${text.slice(-300)}`]
  const problems = isCounted(reply) ? problemsOf(reply, caller, text).map((each) => `${each} (live)`) : []
  const rows = await ledger.takeNew()
  const [row] = rows
  if (rows.length !== 1 || !row) return [...problems, `${name}: ${rows.length} rows of usage`]
  if (row.status !== 'completed') problems.push(`${name}: its row is ${row.status}`)
  if (usage === null || !isCounted(reply))
    return row.isEstimated ? problems : [...problems, `${name}: not marked as estimated`]
  const { input, cached, written, output } = usage
  const wanted =
    BigInt((input - cached - written) * 1_000 + cached * 100 + written * 1_250 + output * 4_000) * 1_000n
  const found = [
    row.inputTokens,
    row.cachedTokens,
    row.cacheWriteTokens,
    row.outputTokens,
    row.costNanocredits,
  ]
  if (!Bun.deepEquals(found, [input, cached, written, output, wanted]))
    problems.push(
      `${name}: the ledger has ${found.join(', ')}, not ${[input, cached, written, output, wanted].join(', ')}`,
    )
  return problems
}

/** A provider that counts nothing at all beside an output is not believed: what was shown is charged as estimated. */
function isCounted(reply: RecordedReply): boolean {
  const { usage } = toldByReply(reply)
  return usage === null || usage.output > 0
}

const folder = mkdtempSync(join(tmpdir(), 'headrace-recorded-'))
const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  folder,
  credits: '100000',
  providers: () => providersAt(upstream.url),
})
const ledger = await openLedgerView(folder)
try {
  const all = listReplies()
  const replies = all.filter((reply) => (toldByReply(reply).usage?.input ?? 0) <= inputTokensMax)
  const startMs = performance.now()
  const problems: string[] = []
  const asked = replies.flatMap((reply) => callers.filter((caller) => presetAsked(reply, caller) !== null))
  for (const reply of replies) {
    for (const caller of callers)
      problems.push(...(await replayLive(reply, caller, { gateway, upstream, ledger })))
  }
  problems.push(...(await ledger.problemsAtRest(gateway)))
  const seconds = Math.round((performance.now() - startMs) / 1000)
  console.log(
    `through the running gateway: ${replies.length} replies, ${asked.length} of ${replies.length * callers.length} ways to 3 callers in ${seconds} s, ${problems.length} problems; the other ways are of callers for whom the provider is asked in another format; ${all.length - replies.length} replies of more than ${inputTokensMax} tokens of input left out`,
  )
  for (const problem of problems.slice(0, shownProblemsMax)) console.log(`WRONG: ${problem}`)
  process.exitCode = problems.length === 0 && replies.length > 0 ? 0 : 1
} finally {
  await ledger.close()
  await gateway.stop()
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
}
