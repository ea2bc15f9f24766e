import { afterAll, describe, expect, test } from 'bun:test'
import { playAgent, scriptedTurns, type AgentFormat } from '../support/agent-loop.ts'
import { startTestGateway } from '../support/gateway.ts'

// Simulated providers refuse a signature of messages or of Google, or an encrypted thought of responses, that
// was changed on its way back. Chat completions have no signatures, and get the thoughts themselves where a
// host takes them.

interface Upstream {
  format: string
  mount: string
  model: string
  /** End of the path of the request. */
  path: RegExp
  /** The member of the last request for each call, and for each thought that leads to a call. */
  call: RegExp
  thought: RegExp
}

const upstreams: readonly Upstream[] = [
  {
    format: 'chat',
    mount: 'chat',
    model: 'acme/thinker',
    path: /\/chat\/completions$/,
    call: /"tool_call_id"/g,
    thought: /"reasoning"/g,
  },
  {
    format: 'responses',
    mount: 'responses',
    model: 'openai/gpt-5.1-codex',
    path: /\/responses$/,
    call: /"type":"function_call"/g,
    thought: /"encrypted_content"/g,
  },
  {
    format: 'messages',
    mount: 'messages',
    model: 'anthropic/claude-sonnet-4-5',
    path: /\/messages$/,
    call: /"type":"tool_use"/g,
    thought: /"signature"/g,
  },
  {
    format: 'gemini',
    mount: 'google',
    model: 'google/gemini-3-pro-preview',
    path: /enerateContent/,
    call: /"functionCall"/g,
    thought: /"thoughtSignature"/g,
  },
]

const gateway = await startTestGateway({
  credits: '500',
  providers: (url) => {
    const row = (preset: string, mount: string, version: string, models: object[]) => ({
      preset,
      id: mount,
      base_url: `${url}/p/${mount}/${version}`,
      api_key: 'simulated-key',
      weight: 1,
      discover: false,
      models: models as { id: string }[],
    })
    const prices = { input_per_million: '1', output_per_million: '2' }
    return [
      row('custom', 'chat', 'v1', [{ id: 'acme/thinker', upstream: 'gpt-4o-mini', prices }]),
      row('openai', 'responses', 'v1', [{ id: 'openai/gpt-5.1-codex' }]),
      row('anthropic', 'messages', 'v1', [{ id: 'anthropic/claude-sonnet-4-5' }]),
      row('google-ai-studio', 'google', 'v1beta', [{ id: 'google/gemini-3-pro-preview' }]),
    ]
  },
})
afterAll(() => gateway.stop())

const turns = 20
const lastWords = 'All twenty turns are done.'
const thoughts = `${Array.from({ length: 19 }, (_, index) => `Thought ${index + 1}. `).join('')}Enough. `

for (const { format: upstream, mount, model, path, call, thought } of upstreams) {
  describe(`5.3 an agent of twenty turns with thoughts and tools on a provider of ${upstream}`, () => {
    for (const format of ['chat', 'responses', 'messages'] as const satisfies readonly AgentFormat[]) {
      for (const isStream of [false, true]) {
        test(`asks in ${format}, ${isStream ? 'streamed' : 'whole'}`, async () => {
          const task = `TASK-${upstream}-${format}-${isStream}`
          // A self-hosted server shows its thoughts, and takes them back.
          const isOwn = upstream === 'chat'
          await gateway.admin('settings', { mount, recorded_body_bytes: 1_000_000, strict: !isOwn })
          if (isOwn) await gateway.admin('faults', { mount, rules: [{ fault: 'reasoning' }] })
          const scripts = [{ match: { marker: task }, turns: scriptedTurns(turns, lastWords) }]
          await gateway.admin('scripts', { mount, scripts })
          const answered = new Map<string, number>()
          const run = await playAgent({
            gateway,
            model,
            format,
            isStream,
            task: `${task}: how is the weather everywhere?`,
            answer: ({ name, arguments: { city } }) => {
              answered.set(name, (answered.get(name) ?? 0) + 1)
              return `${name} of ${String(city)}: fair`
            },
          })
          expect([run.turns, run.lastWords]).toEqual([turns, lastWords])
          expect(run.calls[0]).toEqual({ name: 'weather', arguments: { city: 'City 1' } })
          expect([answered.get('weather'), answered.get('tide')]).toEqual([19, 6])
          expect(run.thoughts).toBe(thoughts)
          const last = await lastRequest(mount, path)
          expect(last.match(call)).toHaveLength(25)
          expect(last.match(thought)?.length).toBeGreaterThanOrEqual(19)
          expect(last).not.toContain('skip_thought_signature_validator')
        })
      }
    }
  })
}

/** The body of the last request that the provider was sent. */
async function lastRequest(mount: string, path: RegExp): Promise<string> {
  const { last_requests: requests } = await gateway.admin(`counters?mount=${mount}`)
  const asked = requests as { path: string; body: string }[]
  expect(asked.every((request) => path.test(request.path))).toBe(true)
  return asked.at(-1)?.body ?? ''
}
