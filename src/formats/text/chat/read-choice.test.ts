import { expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { joinEvents } from '../../../canonical/text/answer.ts'
import type { TextEvent } from '../../../canonical/text/events.ts'
import { GatewayError } from '../../../core/errors.ts'
import { ChatChoiceReader } from './read-choice.ts'

/**
 * The parts in the events of these deltas, in order; a call is shown by name, id and arguments. Throws when parts
 * overlap.
 */
function partsOf(deltas: readonly Record<string, unknown>[]): string[] {
  const events: TextEvent[] = []
  const reader = new ChatChoiceReader({ choice: 0, idSuffix: 'x_0' }, (event) => events.push(event))
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

test('a call stays one call although its provider sends text between its pieces', () => {
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

test('parts that wait for a call are sent in their order, and once', () => {
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

test('parts that wait for a call that never becomes whole are sent at the end', () => {
  expect(partsOf([begin(0, 'f', '{"a":'), { content: 'two' }])).toEqual(['f c0 {"a":', 'text two'])
})

test('after a whole call a blank piece is ignored, and further arguments are a failure', () => {
  const whole = [begin(0, 'f', '{"a":1}'), { content: 'two' }]
  expect(partsOf([...whole, go(0, ''), go(0, '\n')])).toEqual(['f c0 {"a":1}', 'text two'])
  expect(() => partsOf([...whole, go(0, '{"b":2}')])).toThrow(GatewayError)
})

test('calls whose pieces come in any mixture, with text between them, are sent one after another', () => {
  const args = fc.constantFrom('', '{}', ' {"a":"}{"} \n', '{"a":{"b":[1,{"c":"\\"}"}]}}', '{"broken":')
  const pieces = fc.array(fc.tuple(args, fc.integer({ min: 1, max: 5 })), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(pieces, fc.infiniteStream(fc.nat(9)), (given, choose) => {
      // The remaining deltas of each call: its beginning, then its arguments in steps of some characters.
      const waiting = given.map(([text, step], index) => [
        begin(index, `f${index}`, ''),
        ...Array.from({ length: Math.ceil(text.length / step) }, (_, at) =>
          go(index, text.slice(at * step, (at + 1) * step)),
        ),
      ])
      const deltas: Record<string, unknown>[] = []
      while (waiting.some((rest) => rest.length > 0)) {
        const chosen = waiting[Number(choose.next().value) % waiting.length]
        const delta = chosen?.shift()
        deltas.push(delta ?? { content: 'x' })
      }
      const [calls, words] = split(partsOf(deltas), (part) => part.startsWith('f'))
      // Calls may begin in any order, and white space after a complete call has no meaning.
      const told = calls.map((part) => part.trimEnd()).toSorted()
      expect(told).toEqual(given.map(([text], index) => `f${index} c${index} ${text}`.trimEnd()))
      const said = words.map((part) => part.slice('text '.length)).join('')
      expect(said).toBe('x'.repeat(deltas.filter((delta) => 'content' in delta).length))
    }),
    { numRuns: 300 },
  )
})

function split<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** Counts the characters that are read during the deltas, one by one or as JSON. */
function workOf(deltas: readonly Record<string, unknown>[]): number {
  let work = 0
  const { parse } = JSON
  const { charCodeAt, trimEnd } = String.prototype
  const spies = [
    spyOn(JSON, 'parse').mockImplementation((text: string) => {
      work += text.length
      return parse(text) as unknown
    }),
    spyOn(String.prototype, 'charCodeAt').mockImplementation(function count(this: string, at: number) {
      work += 1
      return charCodeAt.call(this, at)
    }),
    spyOn(String.prototype, 'trimEnd').mockImplementation(function count(this: string) {
      work += this.length
      return trimEnd.call(this)
    }),
  ]
  try {
    partsOf(deltas)
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return work
}

test('arguments that arrive in single characters, while text waits for them, are read once', () => {
  const hostile = (length: number) => [
    begin(0, 'f', '{"a":"'),
    { content: 'waits' },
    ...Array.from({ length }, () => go(0, '}')),
    go(0, '"}'),
  ]
  const length = 2_000
  expect(partsOf(hostile(length))).toEqual([`f c0 {"a":"${'}'.repeat(length)}"}`, 'text waits'])
  // Each character of the arguments is read once, and few others are.
  const work = workOf(hostile(length))
  expect(work).toBeGreaterThan(length)
  expect(work).toBeLessThan(length * 2)
})

const cite = (title: string, start: number, end: number) => ({
  annotations: [
    {
      type: 'url_citation',
      url_citation: { url: 'https://example.com', title, start_index: start, end_index: end },
    },
  ],
})

/** Each citation with the text that it cites. */
function citedBy(deltas: readonly Record<string, unknown>[]): string[] {
  const events: TextEvent[] = [{ type: 'begin', upstreamId: null, upstreamModel: null }]
  const reader = new ChatChoiceReader({ choice: 0, idSuffix: 'x_0' }, (event) => events.push(event))
  for (const delta of deltas) reader.read(delta, null)
  reader.finish('stop', null)
  const parts = joinEvents(events).choices[0]?.parts ?? []
  expect(parts.filter(({ head, text }) => head.type === 'text' && text === '')).toEqual([])
  return parts.flatMap(({ text, annotations }) =>
    annotations.map(({ title, start, end }) => `${title}: ${text.slice(start ?? 0, end ?? 0)}`),
  )
}

test('a citation belongs to the text that it names, wherever it comes', () => {
  const [one, call_, two] = [{ content: 'Rain. ' }, begin(0, 'f', '{}'), { content: 'Sun.' }]
  expect(citedBy([one, cite('A', 0, 4)])).toEqual(['A: Rain'])
  expect(citedBy([one, call_, cite('A', 0, 4)])).toEqual(['A: Rain'])
  expect(citedBy([cite('A', 0, 4), one])).toEqual(['A: Rain'])
  expect(citedBy([cite('A', 0, 4), call_, one])).toEqual(['A: Rain'])
  // The positions count the whole text of the message.
  expect(citedBy([one, call_, two, cite('B', 6, 9), cite('A', 0, 4)])).toEqual(['A: Rain', 'B: Sun'])
  expect(citedBy([one, begin(0, 'f', ''), two, cite('B', 6, 9), go(0, '{}')])).toEqual(['B: Sun'])
})

test('a citation without a text is left out', () => {
  expect(citedBy([begin(0, 'f', '{}'), cite('A', 0, 4)])).toEqual([])
})
