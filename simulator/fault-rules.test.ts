import { describe, expect, test } from 'bun:test'
import { createFaultRules } from './fault-rules.ts'

function subject(body: string) {
  return { method: 'POST', path: '/v1/chat/completions', model: 'gpt-4o', body }
}

function struck(seed: number, bodies: readonly string[]): string[] {
  const rules = createFaultRules(seed)
  rules.set([{ fault: 'status=503', probability: 0.5 }])
  return bodies.filter((body) => rules.draw(subject(body)).specs.length > 0)
}

describe('fault rules', () => {
  test('hit requests whose path, model and body match, and no others', () => {
    const rules = createFaultRules(1)
    rules.set([
      { match: { path: '/chat/completions', model: 'gpt-4o', body_contains: 'item-17' }, fault: 'hang' },
    ])
    expect(rules.draw(subject('… item-17 …')).faults).toEqual({ hang: true })
    expect(rules.draw(subject('… item-18 …')).faults).toEqual({})
    expect(rules.draw({ ...subject('item-17'), model: 'o4-mini' }).faults).toEqual({})
    expect(rules.draw({ ...subject('item-17'), path: '/v1/embeddings' }).faults).toEqual({})
  })

  test('combine, and a later rule overrules an earlier one', () => {
    const rules = createFaultRules(1)
    rules.set([{ fault: 'status=500,latency=10' }, { fault: 'status=503' }])
    expect(rules.draw(subject('x')).faults).toEqual({ error: { status: 503 }, latency: { min: 10, max: 10 } })
  })

  test('spare a given number of first requests, and hit a given number of times', () => {
    const rules = createFaultRules(1)
    rules.set([{ fault: 'reset', after: 2, times: 1 }])
    const draws = [1, 2, 3, 4].map(() => rules.draw(subject('x')).specs.length)
    expect(draws).toEqual([0, 0, 1, 0])
    expect(rules.list()[0]).toMatchObject({ matched: 4, struck: 1, times: 1, after: 2 })
  })

  test('with a probability hit about that share of requests, the same ones in any order', () => {
    const bodies = Array.from({ length: 400 }, (_, index) => `item-${index}`)
    const first = struck(5, bodies)
    expect(first.length).toBeGreaterThan(150)
    expect(first.length).toBeLessThan(250)
    expect(struck(5, bodies.toReversed()).toSorted()).toEqual(first.toSorted())
    expect(struck(6, bodies)).not.toEqual(first)
  })

  test('with a probability do not hit a repeated body every time', () => {
    const rules = createFaultRules(1)
    rules.set([{ fault: 'status=503', probability: 0.5 }])
    const draws = Array.from({ length: 64 }, () => rules.draw(subject('same')).specs.length)
    expect(new Set(draws)).toEqual(new Set([0, 1]))
  })

  test.each([
    [{}, 'Send a list of rules'],
    [[{ fault: 'explode' }], 'Rule 0: Unknown fault'],
    [[{ fault: 'hang' }, { fault: 'hang', probabilty: 1 }], 'Rule 1: unknown member "probabilty"'],
    [[{ fault: 'hang', match: { body: 'x' } }], 'unknown member "body"'],
    [[{ fault: 'hang', probability: 2 }], '"probability" must be'],
    [[{ match: {} }], '"fault" must be a specification'],
  ])('that cannot be read are refused: %j', (rules, reason) => {
    expect(() => createFaultRules(1).set(rules)).toThrow(reason)
  })
})
