import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { messagesQuickChecks } from './messages-checks.ts'
import { messagesRequestShape } from './request-schema.ts'

const right: Readonly<Record<string, unknown[]>> = {
  model: ['a/b'],
  max_tokens: [1, null],
  stream: [true, null],
  temperature: [0, 1],
  top_p: [0.5],
  top_k: [0, 5],
  service_tier: ['auto'],
  user: ['u'],
  session_id: ['s'],
  system: ['Hi.', [{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }], []],
  stop_sequences: [['a'], []],
  tools: [
    [],
    [{ name: 'f', description: 'It tells.', input_schema: { type: 'object' }, strict: true }],
    [
      { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
      { name: null, type: null, description: null },
    ],
  ],
  tool_choice: [{ type: 'auto' }, { type: 'tool', name: 'f', disable_parallel_tool_use: true }],
  thinking: [{ type: 'adaptive' }, { type: 'enabled', budget_tokens: 1_024, display: 'omitted' }],
  metadata: [{}, { user_id: 'u' }, { user_id: null }],
  cache_control: [{ type: 'ephemeral', ttl: '1h' }],
  output_config: [{}, { effort: 'high' }, { effort: null, format: null }],
}

const odd = [
  ...Object.values(right).flat(),
  1.5,
  2 ** 53,
  -1,
  2,
  'x'.repeat(257),
  '🎧'.repeat(200),
  [{ name: 1 }],
  [{ name: 'f', input_schema: [] }],
  [{ name: 'f', input_schema: 'x' }],
  [{ name: 'f', description: {} }],
  [{ type: 1 }],
  [null],
  [['a']],
  { type: 'other' },
  { type: 'tool', name: 1 },
  { type: 'auto', disable_parallel_tool_use: 'yes' },
  { type: 'enabled', budget_tokens: -1 },
  { type: 'enabled', budget_tokens: 1.5 },
  { type: 'enabled', display: 1 },
  { user_id: 1 },
  { effort: 1 },
  { format: 'json' },
  { format: { type: 'json_schema' } },
]
const anything = fc.oneof(fc.constantFrom(...odd), fc.jsonValue(), fc.integer(), fc.double())

test.each(Object.entries(messagesQuickChecks))(
  '%s: the schema accepts every value that the quick check accepts, unchanged',
  (name, check) => {
    const schema = messagesRequestShape[name as keyof typeof messagesRequestShape]
    const agrees = (value: unknown): void => {
      if (!check?.(value)) return
      const parsed = schema.safeParse(value)
      expect(parsed.error).toBeUndefined()
      if (typeof value !== 'object') expect<unknown>(parsed.data).toEqual(value)
    }
    for (const value of odd) agrees(value)
    fc.assert(fc.property(anything, agrees), { numRuns: 500 })
    expect(right[name]?.length).toBeGreaterThan(0)
    for (const value of right[name] ?? []) expect([name, value, check?.(value)]).toEqual([name, value, true])
  },
)
