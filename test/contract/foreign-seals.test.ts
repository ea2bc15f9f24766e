import { afterAll, describe, expect, test } from 'bun:test'
import { playAgent, scriptedTurns, type AgentFormat } from '../support/agent-loop.ts'
import { startTestGateway } from '../support/gateway.ts'

// Two providers of one format, each of which refuses thoughts that the other has sealed. A conversation goes
// from the one to the
// other and back, and last to both within one call, because the first of them fails.

interface Pair {
  format: string
  model: string
  /** The maker of the format, and another host of it, by their mounts; these are their slugs as well. */
  maker: string
  host: string
  path: RegExp
  seal: RegExp
  /** Formats of callers whom both are asked for in this format. */
  callers: readonly AgentFormat[]
}

const pairs: readonly Pair[] = [
  {
    format: 'responses',
    model: 'openai/gpt-5.1-codex',
    maker: 'openai',
    host: 'azure',
    path: /\/responses$/,
    seal: /"encrypted_content"/g,
    callers: ['chat', 'responses', 'messages'],
  },
  {
    format: 'responses',
    model: 'openai/gpt-5.1-codex',
    maker: 'openai',
    host: 'xai',
    path: /\/responses$/,
    seal: /"encrypted_content"/g,
    // Callers of chat completions are asked for in their own format there.
    callers: ['responses', 'messages'],
  },
  {
    format: 'messages',
    model: 'anthropic/claude-sonnet-4-5',
    maker: 'anthropic',
    host: 'azure',
    path: /\/messages$/,
    seal: /"signature":"[^"]/g,
    callers: ['chat', 'responses', 'messages'],
  },
]

const gateway = await startTestGateway({
  credits: '500',
  providers: (url) => {
    const row = (preset: string, models: readonly string[]) => ({
      preset,
      base_url: `${url}/p/${preset}/v1`,
      api_key: 'simulated-key',
      // The simulator does not know the header in which one of them takes its key.
      headers: { authorization: 'Bearer simulated-key' },
      weight: 1,
      discover: false,
      models: models.map((id) => ({ id, prices: { input_per_million: '1', output_per_million: '2' } })),
    })
    return [
      row('openai', ['openai/gpt-5.1-codex']),
      row('anthropic', ['anthropic/claude-sonnet-4-5']),
      row('azure', ['openai/gpt-5.1-codex', 'anthropic/claude-sonnet-4-5']),
      row('xai', ['openai/gpt-5.1-codex']),
    ]
  },
})
afterAll(() => gateway.stop())

const lastWords = 'All six turns are done.'
const task = 'TASK-of-two-providers'
/** The first two turns and the fifth are the first provider's, the third and fourth the second's; the sixth asks both. */
const turns = 6

for (const { format: upstream, model, maker, host, path, seal, callers } of pairs) {
  for (const [first, second] of [
    [host, maker],
    [maker, host],
  ] as const) {
    describe(`a conversation in ${upstream} that goes from ${first} to ${second} and back`, () => {
      for (const format of callers) {
        for (const isStream of [false, true]) {
          test(`sends each provider only its own seals: ${format}, ${isStream ? 'streamed' : 'whole'}`, async () => {
            for (const mount of [first, second]) {
              await gateway.admin('reset', { mount })
              await gateway.admin('settings', { mount, recorded_body_bytes: 1_000_000, sealer: mount })
              const scripts = [{ match: { marker: task }, turns: scriptedTurns(turns, lastWords) }]
              await gateway.admin('scripts', { mount, scripts })
            }
            const run = await playAgent({
              gateway,
              model,
              format,
              isStream,
              task: `${task}: how is the weather everywhere?`,
              answer: ({ name }) => `${name}: fair`,
              besides: async (turn) => {
                if (turn < turns) return { provider: { only: [turn === 3 || turn === 4 ? second : first] } }
                await gateway.admin('faults', { mount: first, rules: [{ fault: 'status=503' }] })
                return { provider: { only: [first, second], order: [first, second] } }
              },
            })
            expect([run.turns, run.lastWords]).toEqual([turns, lastWords])
            expect((await lastRequest(first, path)).match(seal)).toHaveLength(3)
            expect((await lastRequest(second, path)).match(seal)).toHaveLength(2)
          })
        }
      }
    })
  }
}

/** The body of the last request that the provider was sent. */
async function lastRequest(mount: string, path: RegExp): Promise<string> {
  const { last_requests: requests } = await gateway.admin(`counters?mount=${mount}`)
  const asked = requests as { path: string; body: string }[]
  expect(asked.filter((request) => !path.test(request.path))).toEqual([])
  return asked.at(-1)?.body ?? ''
}
