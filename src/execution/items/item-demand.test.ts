import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Demand } from '../../canonical/usage.ts'
import { memberParseBytesMax } from '../../core/limits/text.ts'
import { decodeItem } from './batch-item.ts'
import { ItemDemands, demandFrameBytesMax, demandFramesMax } from './item-demand.ts'

/** The item as ingest finds it: its bytes among others, and where its body and the member lie. */
function placed(body: Buffer, member: { name: string; value: unknown }): Parameters<ItemDemands['of']> {
  const before = '{"custom_id":"x","body":'
  const item = Buffer.concat([Buffer.from(before), body, Buffer.from('}')])
  const place = { start: before.length, end: before.length + body.length }
  if (member.value === undefined) return [item, place, {}]
  const text = `"${member.name}":`
  const value = Buffer.from(JSON.stringify(member.value))
  const start = item.indexOf(Buffer.concat([Buffer.from(text), value])) + text.length
  return [item, place, { [member.name]: { start, end: start + value.length } }]
}

/** The item whose members were not looked for. */
function unknown(body: Buffer): Parameters<ItemDemands['of']> {
  return [body, { start: 0, end: body.length }, null]
}

function expected(endpoint: string, body: Buffer): Demand | null {
  try {
    return decodeItem(endpoint, 'model', body).demand
  } catch {
    return null
  }
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('x'.repeat(5_000), 'я'.repeat(300), '"file'),
)
const part = fc.constantFrom<unknown>(
  { type: 'text', text: 'hello' },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_000)}` } },
  { type: 'input_audio', input_audio: { data: 'A'.repeat(3_000), format: 'wav' } },
  'no part',
)
const message = fc.oneof(
  { weight: 8, arbitrary: fc.record({ role: fc.constantFrom('user', 'system', 'tool'), content: text }) },
  fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.array(part, { maxLength: 3 }) }),
  fc.constantFrom<unknown>(
    { role: 'nobody' },
    { content: 'x' },
    { role: 'user', content: 5 },
    { role: 'user', content: null },
    7,
    null,
    [],
  ),
)
const messages = fc.oneof(
  { weight: 8, arbitrary: fc.array(message, { maxLength: 4 }) },
  fc.constantFrom<unknown>(null, 'x', {}),
)
const rest = fc.record(
  {
    max_tokens: fc.constantFrom<unknown>(1, 64, 0, -1, null, '5', 2 ** 52),
    max_completion_tokens: fc.constantFrom<unknown>(7, null),
    n: fc.constantFrom<unknown>(1, 3, 0, 200),
    temperature: fc.constantFrom<unknown>(0.5, 9),
    system: fc.constantFrom<unknown>('Be brief.', 5),
    tools: fc.constantFrom<unknown>([{ type: 'function', function: { name: 'f' } }], []),
    provider: fc.constantFrom<unknown>({ only: ['a'] }, { onyl: [] }),
    model: fc.constantFrom<unknown>('model', 5),
  },
  { requiredKeys: [] },
)

test.each(['/v1/chat/completions', '/v1/messages'])(
  'the demand of an item of %s equals that of decoding it, whatever items came before',
  (endpoint) => {
    const demands = new ItemDemands(endpoint)
    fc.assert(
      fc.property(rest, fc.option(messages, { nil: undefined }), fc.boolean(), (others, value, isFirst) => {
        const own = value === undefined ? {} : { messages: value }
        const object = isFirst ? { ...own, ...others } : { ...others, ...own }
        const body = Buffer.from(JSON.stringify(object))
        expect(
          demands.of(
            ...placed(body, { name: 'messages', value: (object as { messages?: unknown }).messages }),
          ),
        ).toEqual(expected(endpoint, body))
        expect(demands.of(...unknown(body))).toEqual(expected(endpoint, body))
      }),
      { numRuns: 1_500 },
    )
  },
)

test('the demand of an embeddings item equals that of decoding it', () => {
  const endpoint = '/v1/embeddings'
  const demands = new ItemDemands(endpoint)
  for (const input of [
    'one text',
    '',
    'я',
    ['a', 'b'],
    [],
    [1, 2],
    5,
    null,
    'x'.repeat(100_000),
    undefined,
  ]) {
    for (const others of [{}, { dimensions: 3 }, { encoding_format: 'wrong' }]) {
      const object = input === undefined ? others : { input, ...others }
      const body = Buffer.from(JSON.stringify(object))
      expect(demands.of(...placed(body, { name: 'input', value: input }))).toEqual(expected(endpoint, body))
    }
  }
})

test('frames beyond the remembered number, and frames too large to be remembered, are measured too', () => {
  const endpoint = '/v1/chat/completions'
  const demands = new ItemDemands(endpoint)
  const others = [
    ...Array.from({ length: demandFramesMax + 2 }, (_, index) => ({ max_tokens: index + 1 })),
    { metadata: { note: 'x'.repeat(demandFrameBytesMax) }, max_tokens: 9 },
  ]
  for (const other of others) {
    for (const content of ['hello', 'x'.repeat(memberParseBytesMax)]) {
      const object = { messages: [{ role: 'user', content }], ...other }
      const body = Buffer.from(JSON.stringify(object))
      expect(
        demands.of(...placed(body, { name: 'messages', value: (object as { messages?: unknown }).messages }))
          ?.outputTokensMax,
      ).toBe(other.max_tokens)
    }
  }
})

test('an item with a member that occurs twice is refused, as by decoding', () => {
  const demands = new ItemDemands('/v1/chat/completions')
  for (const twice of [
    '{"role":"user","role":"x"}',
    '{"role":"user","content":"a","content":1}',
    '{"r\\u006fle":"x","role":"user"}',
  ]) {
    const body = Buffer.from(`{"messages":[${twice}]}`)
    const value = { start: '{"messages":'.length, end: body.length - 1 }
    expect(demands.of(body, { start: 0, end: body.length }, { messages: value })).toEqual(
      expected('/v1/chat/completions', body),
    )
  }
  const body = Buffer.from('{"messages":[],"messages":[{"role":"user"}]}')
  const second = { start: body.length - 18, end: body.length - 1 }
  expect(demands.of(body, { start: 0, end: body.length }, { messages: second })).toBeNull()
})

test('an item of an endpoint that batches do not run has no demand that could be priced', () => {
  expect(new ItemDemands('/v1/completions').of(...unknown(Buffer.from('{}')))).toBeNull()
})
