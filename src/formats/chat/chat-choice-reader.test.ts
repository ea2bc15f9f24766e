import { expect, test } from 'bun:test'
import type { TextEvent } from '../../canonical/text/events.ts'
import { GatewayError } from '../../core/errors.ts'
import { ChatChoiceReader } from './chat-choice-reader.ts'

/** The parts that the deltas come to, in their order: of a call its name, id and arguments. Throws where parts overlap. */
function partsOf(deltas: readonly Record<string, unknown>[]): string[] {
  const events: TextEvent[] = []
  const reader = new ChatChoiceReader(0, (event) => events.push(event))
  for (const delta of deltas) reader.read(delta, null)
  reader.finish('tool_calls', null)
  const parts: string[] = []
  let open: number | null = null
  for (const event of events) {
    if (event.type === 'part_begin') {
      if (open !== null) throw new Error('a part began within another')
      open = event.part
      const { head } = event
      parts[open] = head.type === 'tool_call' ? `${head.name} ${head.id} ` : `${head.type} `
    } else if (event.type === 'piece') {
      if (open !== event.part) throw new Error('a piece came outside its part')
      if ('text' in event.piece) parts[event.part] += event.piece.text
    } else if (event.type === 'part_end') open = null
  }
  return parts
}

const begin = (index: number, name: string, text: string) => ({
  tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name, arguments: text } }],
})
const go = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })

test('a call stays one although its provider says something between its pieces', () => {
  for (const [first, second] of [
    ['{"a":', '1}'],
    ['', '{"a":1}'],
  ] as const) {
    expect(
      partsOf([
        { content: 'one ' },
        begin(0, 'f', first),
        { content: 'two ' },
        { content: 'three' },
        go(0, second),
        { content: ' four' },
      ]),
    ).toEqual(['text one ', 'f c0 {"a":1}', 'text two three four'])
  }
})

test('everything that waits for a call is told in its order, and once', () => {
  const image = { image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
  expect(
    partsOf([
      begin(0, 'f', '{"a":'),
      { reasoning: 'So' },
      { images: [image] },
      begin(1, 'g', '{"b"'),
      { content: 'two' },
      { refusal: 'no' },
      go(1, ':2}'),
      go(0, '1}'),
      begin(2, 'h', '{}'),
    ]),
  ).toEqual(['f c0 {"a":1}', 'reasoning So', 'image ', 'g c1 {"b":2}', 'text two', 'refusal no', 'h c2 {}'])
})

test('what waits for a call that never becomes whole is told at the end', () => {
  expect(partsOf([begin(0, 'f', '{"a":'), { content: 'two' }])).toEqual(['f c0 {"a":', 'text two'])
})

test('a call that was told whole takes a blank piece as nothing, and fails with more arguments', () => {
  const whole = [begin(0, 'f', '{"a":1}'), { content: 'two' }]
  expect(partsOf([...whole, go(0, ''), go(0, '\n')])).toEqual(['f c0 {"a":1}', 'text two'])
  expect(() => partsOf([...whole, go(0, '{"b":2}')])).toThrow(GatewayError)
})
