import { expect, test } from 'bun:test'
import { decodeItem, readItem } from './batch-item.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const words = 'Größe "quoted" \n'.repeat(100)
const picture = 'iVBORw0KGgo+/'.repeat(200_000)
const bodies = {
  '/v1/chat/completions': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: words },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
        ],
      },
    ],
  },
  '/v1/messages': {
    max_tokens: 9,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: words },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } },
        ],
      },
    ],
  },
}

for (const [endpoint, body] of Object.entries(bodies)) {
  for (const named of [body, { model: 'a/b', ...body }]) {
    test(`a large item of ${endpoint} ${'model' in named ? 'with' : 'without'} a model is looked into without its long texts`, async () => {
      const item = { endpoint, model: 'a/b', body: bytesOf(named) }
      const { call } = await readItem(item)
      expect(call.document.lean?.bytes.length).toBeLessThan(2_000)
      const whole = decodeItem(endpoint, 'a/b', item.body)
      expect({ ...call, document: null }).toEqual({ ...whole, document: null })
      const text = Buffer.from(call.document.bytes).toString('utf8')
      expect(JSON.parse(text)).toEqual({ model: 'a/b', ...body })
    })
  }
}

test('a small item is parsed as it is', async () => {
  const body = bytesOf({ messages: [{ role: 'user', content: 'Hi.' }] })
  const { call } = await readItem({ endpoint: '/v1/chat/completions', model: 'a/b', body })
  expect(call.document.lean).toBeNull()
  expect(call.model).toBe('a/b')
})

test('an item with another model than its batch is refused by name', () => {
  const messages = [{ role: 'user', content: 'Hi.' }]
  for (const models of [['a/c'], ['a/b', 'a/c']])
    expect(() =>
      decodeItem('/v1/chat/completions', 'a/b', bytesOf({ models, model: 'a/b', messages })),
    ).toThrow('is not the model of the batch')
  const same = decodeItem('/v1/chat/completions', 'a/b', bytesOf({ models: ['a/b'], messages }))
  expect(same.model).toBe('a/b')
})
