import { describe, expect, test } from 'bun:test'
import { at, simulatorForTests } from './testing.ts'

const simulator = simulatorForTests()
const path = '/embeddings'
const model = 'text-embedding-3-small'

async function vector(more: object): Promise<number[]> {
  const { json } = await simulator.post(path, { body: { model, ...more } })
  return at(json, 'data.0.embedding') as number[]
}

describe('embeddings', () => {
  test('are unit vectors in input order, the same for the same text', async () => {
    const { json } = await simulator.post(path, { body: { model, input: ['one', 'two', 'one'] } })
    expect(json).toMatchObject({ object: 'list', model, usage: { prompt_tokens: 3, total_tokens: 3 } })
    expect(at(json, 'data.1')).toMatchObject({ object: 'embedding', index: 1 })
    const first = at(json, 'data.0.embedding') as number[]
    expect(first).toHaveLength(1536)
    expect(Math.hypot(...first)).toBeCloseTo(1, 5)
    expect(at(json, 'data.2.embedding')).toEqual(first)
    expect(at(json, 'data.1.embedding')).not.toEqual(first)
  })

  test('in base64 are the same 32-bit numbers', async () => {
    const body = { model, input: 'one', encoding_format: 'base64', dimensions: 8 }
    const { json } = await simulator.post(path, { body })
    const bytes = Buffer.from(String(at(json, 'data.0.embedding')), 'base64')
    expect(bytes).toHaveLength(32)
    const floats = Array.from({ length: 8 }, (_, index) => bytes.readFloatLE(index * 4))
    const plain = await vector({ input: 'one', dimensions: 8 })
    expect(plain.map(Math.fround)).toEqual(floats)
  })

  test('with fewer dimensions are the beginning of the full vectors, normalised again', async () => {
    const full = await vector({ input: 'one' })
    const short = await vector({ input: 'one', dimensions: 16 })
    expect(Math.hypot(...short)).toBeCloseTo(1, 5)
    expect((short[0] ?? 0) / (short[1] ?? 1)).toBeCloseTo((full[0] ?? 0) / (full[1] ?? 1), 4)
    expect(await vector({ input: 'one', model: 'text-embedding-3-large' })).toHaveLength(3072)
  })

  test('take tokens, and lists of tokens', async () => {
    const one = await simulator.post(path, { body: { model, input: [1, 2, 3], dimensions: 2 } })
    expect(at(one.json, 'usage.prompt_tokens')).toBe(3)
    expect(at(one.json, 'data')).toHaveLength(1)
    const two = await simulator.post(path, { body: { model, input: [[1, 2, 3], [4]], dimensions: 2 } })
    expect(at(two.json, 'data')).toHaveLength(2)
    expect(at(two.json, 'data.0.embedding')).toEqual(at(one.json, 'data.0.embedding'))
  })

  test('can arrive out of order and without usage', async () => {
    const body = { model, input: ['a', 'b'], dimensions: 2 }
    const { json } = await simulator.post(path, { body, fault: 'out_of_order,usage=missing' })
    expect(at(json, 'data.0.index')).toBe(1)
    expect(json['usage']).toBeUndefined()
  })

  test.each([
    ['an empty text', { input: '' }, 'input'],
    ['an empty list', { input: [] }, 'input'],
    ['an empty entry', { input: ['a', ''] }, 'input[1]'],
    ['a mixed list', { input: [1, 'a'] }, 'input[1]'],
    ['a number', { input: 5 }, 'input'],
    ['no input', {}, 'input'],
    ['too many inputs', { input: Array.from({ length: 2049 }, () => 'a') }, 'input'],
    ['a text above the context', { input: 'x'.repeat(32_769) }, 'input'],
    ['too many dimensions', { input: 'a', dimensions: 1537 }, 'dimensions'],
    ['an unknown encoding', { input: 'a', encoding_format: 'int8' }, 'encoding_format'],
    ['an unknown member', { input: 'a', session_id: 'x' }, 'session_id'],
  ])('are refused for %s', async (_, body, param) => {
    const { status, json } = await simulator.post(path, { body: { model, ...body } })
    expect(status).toBe(400)
    expect(at(json, 'error.param')).toBe(param)
  })
})
