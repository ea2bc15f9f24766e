import { describe, expect, test } from 'bun:test'
import { LineChecker } from './line-check.ts'

const line = (id: string, more: object = {}) =>
  JSON.stringify({
    custom_id: id,
    body: { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'x' }], ...more },
  })

function check(lines: readonly string[]) {
  const checker = new LineChecker()
  const items = lines.map((one) => checker.check(one))
  return { items, report: checker.report(0) }
}

describe('the lines of a batch', () => {
  test('good lines name the endpoint and the model, and empty lines are left out', () => {
    const { items, report } = check([line('a'), '', line('b')])
    expect(items).toEqual([line('a'), null, line('b')])
    expect(report).toMatchObject({
      lines: 3,
      items: 2,
      faultCount: 0,
      endpoint: '/v1/chat/completions',
      model: 'openai/gpt-4o-mini',
    })
  })

  test('each fault names its line', () => {
    const { report } = check([
      line('a'),
      '{"custom_id":',
      '[]',
      '{"body":{}}',
      '{"custom_id":"c"}',
      line('a'),
      line('d', { stream: true }),
      line('e', { model: 'other' }),
      JSON.stringify({ custom_id: 'f', url: '/v1/images', body: {} }),
      line('x'.repeat(65)),
    ])
    expect(report.items).toBe(1)
    expect(report.faults.map((fault) => fault.line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(report.faults.at(4)?.message).toBe('custom_id "a" was used before')
  })

  test('no more than a hundred faults are kept, and all are counted', () => {
    const { report } = check(Array.from({ length: 500 }, () => 'no'))
    expect([report.faults.length, report.faultCount]).toEqual([100, 500])
  })

  test('a hundred thousand ids that differ are all new, and the last one again is not', () => {
    const checker = new LineChecker()
    for (let index = 0; index < 100_000; index += 1) checker.check(`{"custom_id":"item-${index}","body":{}}`)
    expect(checker.report(0).faultCount).toBe(0)
    checker.check('{"custom_id":"item-99999","body":{}}')
    expect(checker.report(0).faults).toEqual([
      { line: 100_001, message: 'custom_id "item-99999" was used before' },
    ])
  })
})
