import { describe, expect, test } from 'bun:test'
import type { BodyPieces } from '../../core/body.ts'
import fc from 'fast-check'
import { GatewayError } from '../../core/errors.ts'
import { testCharge, testContext, testEndpoint, textOf } from '../text/testing.ts'
import { decodeEmbeddingsAnswer, encodeEmbeddingsRequest } from './embeddings-codec.ts'
import { embeddingsQuirks, type EmbeddingsQuirkOptions } from './quirks.ts'
import { decodeFloats, encodeFloats } from './vectors.ts'
import { countInputs, decodeEmbeddingsRequest } from './read-request.ts'
import { embeddingsAnswerSchema } from './request-schema.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const jsonOf = (pieces: BodyPieces) => JSON.parse(textOf(pieces))

const decode = (body: object) =>
  decodeEmbeddingsRequest(bytesOf({ model: 'openai/e', input: 'a', ...body }), { sessionIdHeader: null })

function encode(body: object, options: EmbeddingsQuirkOptions = {}) {
  const { body: bytes, dropped } = encodeEmbeddingsRequest(
    decode(body),
    testEndpoint('e'),
    embeddingsQuirks(options),
  )
  return { wire: jsonOf(bytes), dropped }
}

function answer(wire: unknown, body: object = {}) {
  const decoded = decodeEmbeddingsAnswer(bytesOf(wire), testContext, decode(body))
  return { reading: decoded.reading, body: jsonOf(decoded.encode(testCharge)) }
}

function refusalOf(act: () => unknown): GatewayError {
  try {
    act()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('it was accepted')
}

describe('an embeddings request', () => {
  test('may hold a text, texts, tokens, token lists or contents', () => {
    const content = [{ content: [{ type: 'text', text: 'a' }] }]
    for (const input of ['a', ['a', 'b'], [1, 2], [[1], [2, 3]], content]) {
      expect(decode({ input }).demand).toMatchObject({ outputTokensMax: 0, choices: 1 })
    }
  })

  test.each<[object, string]>([
    [{ model: undefined }, 'model'],
    [{ input: undefined }, 'input'],
    [{ input: null }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: 5 }, 'input'],
    [{ input: ['a', 1] }, 'input[1]'],
    [{ input: [[1], [-1]] }, 'input[1]'],
    [{ input: [true] }, 'input[0]'],
    [{ dimensions: 0 }, 'dimensions'],
    [{ encoding_format: 'int8' }, 'encoding_format'],
    [{ provider: { foo: 1 } }, 'provider.foo'],
  ])('is refused for %j, naming %s', (body, param) => {
    expect(refusalOf(() => decode(body)).param).toBe(param)
  })

  test('may hold 2,048 inputs and not one more, or one input of many tokens', () => {
    const inputs = (length: number) => Array.from({ length }, () => 'a')
    expect(decode({ input: inputs(2_048) }).model).toBe('openai/e')
    expect(refusalOf(() => decode({ input: inputs(2_049) })).param).toBe('input')
    expect(decode({ input: Array.from({ length: 8_000 }, () => 1) }).model).toBe('openai/e')
  })

  test('asks for floats unless the provider is known to encode', () => {
    expect(encode({ encoding_format: 'base64', provider: {}, user: 'u', session_id: 's' }).wire).toEqual({
      model: 'e',
      input: 'a',
    })
    expect(encode({ encoding_format: 'base64' }, { base64: true }).wire).toMatchObject({
      encoding_format: 'base64',
    })
  })

  test('spells the dimensions as the provider does, or drops and lists them', () => {
    expect(encode({ dimensions: 8 }, { dimensionsField: 'output_dimension' }).wire).toEqual({
      model: 'e',
      input: 'a',
      output_dimension: 8,
    })
    expect(encode({ dimensions: 8 }, { dimensionsField: null })).toEqual({
      wire: { model: 'e', input: 'a' },
      dropped: ['dimensions'],
    })
  })

  test('with tokens or contents is refused where the provider would embed them as something else', () => {
    expect(refusalOf(() => encode({ input: [1, 2] })).param).toBe('input')
    expect(refusalOf(() => encode({ input: [{ content: [{ type: 'text' }] }] })).message).toContain(
      'several modalities',
    )
    expect(encode({ input: [[1, 2]] }, { tokenArrays: true }).wire.input).toEqual([[1, 2]])
  })
})

describe('an embeddings answer', () => {
  const vectors = (...values: number[][]) =>
    values.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  const usage = { prompt_tokens: 12, total_tokens: 12 }

  test('has what the contract requires, its usage and charge', () => {
    const { body, reading } = answer({ object: 'list', data: vectors([0.5, -1]), model: 'e-1', usage })
    expect(body).toMatchObject({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, -1] }],
      model: 'openai/gpt-4o-mini',
      usage: { prompt_tokens: 12, total_tokens: 12, cost: 30e-9, is_byok: false },
    })
    expect(embeddingsAnswerSchema.safeParse(body).error).toBeUndefined()
    expect(reading).toMatchObject({
      usage: { inputTokens: 12, outputTokens: 0 },
      source: 'provider',
      upstreamModel: 'e-1',
    })
  })

  test('comes in the order of the inputs, whatever order the provider chose', () => {
    const [first, second, third] = vectors([1], [2], [3])
    const { body } = answer({ data: [third, first, second], usage }, { input: ['a', 'b', 'c'] })
    expect(body.data).toEqual([first, second, third])
    const unnumbered = [{ embedding: [1] }, { embedding: [2] }]
    expect(answer({ data: unnumbered, usage }, { input: ['a', 'b'] }).body.data).toEqual(vectors([1], [2]))
  })

  test('is encoded here when the caller wants base64, and decoded when the caller does not', () => {
    const base64 = answer({ data: vectors([0.5, -1]), usage }, { encoding_format: 'base64' }).body.data[0]
      .embedding
    expect(decodeFloats(base64)).toEqual([0.5, -1])
    const data = [{ object: 'embedding', index: 0, embedding: encodeFloats([0.5, -1]) }]
    expect(answer({ data, usage }).body.data[0].embedding).toEqual([0.5, -1])
    expect(answer({ data, usage }, { encoding_format: 'base64' }).body.data).toEqual(data)
  })

  test('keeps every float32 through base64', () => {
    fc.assert(
      fc.property(fc.array(fc.float({ noNaN: true }), { minLength: 1 }), (values) => {
        expect(decodeFloats(encodeFloats(values))).toEqual(values)
      }),
    )
  })

  test('is little-endian, as the official clients read it', () => {
    expect(Buffer.from(encodeFloats([1]), 'base64').toString('hex')).toBe('0000803f')
  })

  test('uses the total where the provider gives no other count, and is estimated where it gives none', () => {
    for (const counts of [{}, { prompt_tokens: 0 }, { prompt_tokens: 5, completion_tokens: 0 }]) {
      const told = { ...counts, total_tokens: 7 }
      expect(answer({ data: vectors([1]), usage: told }).reading.usage?.inputTokens).toBe(7)
    }
    const { reading, body } = answer({ data: vectors([1]) })
    expect(reading).toMatchObject({ usage: null, source: 'estimated' })
    expect(body.usage).toMatchObject({ prompt_tokens: 3, total_tokens: 3 })
  })

  test('that is not an embeddings body is a failure of the provider', () => {
    const junk = [
      null,
      [],
      {},
      { data: {} },
      { data: [] },
      { data: [1] },
      { data: [{ embedding: 'x' }] },
      { data: [{ embedding: ['a'] }] },
    ]
    for (const wire of junk) expect(refusalOf(() => answer(wire)).type).toBe('provider_failed')
    expect(refusalOf(() => answer({ error: { code: 429 } })).type).toBe('upstream_rate_limited')
  })

  test('without exactly one vector for every input is a failed provider, whatever its spelling', () => {
    const spelled = (indexes: readonly number[], isEncoded: boolean) =>
      indexes.map((index) => ({
        object: 'embedding',
        index,
        embedding: isEncoded ? encodeFloats([1, 2]) : [1, 2],
      }))
    const input = ['a "[', 'b']
    const ways = ['float', 'base64'].flatMap((encoding_format) => [
      { encoding_format, isEncoded: false },
      { encoding_format, isEncoded: true },
    ])
    for (const { encoding_format, isEncoded } of ways) {
      for (const indexes of [[0], [0, 1, 2], [0, 0], [1, 2], [0, 2], [1, 1]]) {
        const data = spelled(indexes, isEncoded)
        const turned = data.map(({ index, embedding }) => ({ index, embedding }))
        const refused = [data, turned].map((shown) =>
          refusalOf(() => answer({ data: shown, usage }, { input, encoding_format })),
        )
        expect(refused.map(({ type }) => type)).toEqual(['provider_failed', 'provider_failed'])
      }
      const { body } = answer({ data: spelled([1, 0], isEncoded), usage }, { input, encoding_format })
      expect(body.data).toEqual(spelled([0, 1], encoding_format === 'base64'))
    }
  })

  test('is expected to have as many vectors as there are inputs', () => {
    const counts: [unknown, number][] = [
      ['a, b', 1],
      [['a'], 1],
      [['a, ]', '[b', 'c\\"],'], 3],
      [[1, 2, 3], 1],
      [[[1, 2], [3]], 2],
      [[{ content: [{ type: 'text', text: '[{,' }] }, { content: [{ type: 'text' }] }], 2],
    ]
    for (const [input, count] of counts) {
      for (const space of [undefined, 2]) {
        const bytes = new TextEncoder().encode(JSON.stringify({ model: 'openai/e', input }, null, space))
        const { document } = decodeEmbeddingsRequest(bytes, { sessionIdHeader: null })
        expect(countInputs(document)).toBe(count)
      }
    }
  })

  test('whose vectors are empty, null or no base64 is a failed provider', () => {
    const noVectors = [null, [], [null], [1, null], '', '!', 'AACAP!AA', 'AACA', 'AAA', [[1]]]
    for (const encoding_format of ['float', 'base64']) {
      for (const embedding of noVectors) {
        const data = [{ object: 'embedding', index: 0, embedding }]
        expect(refusalOf(() => answer({ data, usage }, { encoding_format })).type).toBe('provider_failed')
      }
      const unpadded = [{ object: 'embedding', index: 0, embedding: 'AACAPw' }]
      expect(answer({ data: unpadded, usage }, { encoding_format }).body.data[0].embedding).toEqual(
        encoding_format === 'base64' ? 'AACAPw==' : [1],
      )
    }
  })

  test('with numbers that JSON cannot write is a failed provider', () => {
    for (const encoding of ['float', 'base64']) {
      for (const number of ['NaN', 'Infinity', '-Infinity']) {
        for (const lead of ['"object":"embedding","index":0,', '']) {
          const wire = `{"data":[{${lead}"embedding":[1,${number}]}],"usage":{"prompt_tokens":1}}`
          const act = () =>
            decodeEmbeddingsAnswer(Buffer.from(wire), testContext, decode({ encoding_format: encoding }))
          expect(refusalOf(act).type).toBe('provider_failed')
        }
      }
    }
    const encoded = [{ object: 'embedding', index: 0, embedding: encodeFloats([1, Number.NaN]) }]
    for (const encoding_format of ['float', 'base64'])
      expect(refusalOf(() => answer({ data: encoded, usage }, { encoding_format })).type).toBe(
        'provider_failed',
      )
  })
})
