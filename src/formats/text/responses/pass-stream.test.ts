import { describe, expect, spyOn, test } from 'bun:test'
import { GatewayError } from '../../../core/errors.ts'
import { runStream, testContext } from '../testing.ts'
import { selectCodec } from '../formats.ts'
import { decodeResponsesRequest } from './read-request.ts'
import { responsesQuirks } from './quirks.ts'

// Deltas that differ only in the model's text are shown without being parsed.

type Wire = Record<string, unknown>

const call = decodeResponsesRequest(Buffer.from('{"model":"a/b","input":"x"}'), { sessionIdHeader: null })
const open = () => selectCodec('responses', 'responses').createStream(testContext, responsesQuirks(), call)

const response = (output: Wire[], status: string) => ({
  id: 'resp_1',
  object: 'response',
  status,
  model: 'm',
  output,
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
})
const message = (text: string | null) => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  status: text === null ? 'in_progress' : 'completed',
  content: text === null ? [] : [{ type: 'output_text', text, annotations: [] }],
})
const beginning: Wire[] = [
  { type: 'response.created', response: response([], 'in_progress') },
  { type: 'response.output_item.added', output_index: 0, item: message(null) },
]
const ending = (text: string): Wire[] => [
  { type: 'response.output_item.done', output_index: 0, item: message(text) },
  { type: 'response.completed', response: response([message(text)], 'completed') },
]

/** The ways in which hosts write a delta: with or without padding, members in either order. */
type Style = (delta: string, number: number) => string

const padded: Style = (delta, number) =>
  `{"type":"response.output_text.delta","sequence_number":${number},"item_id":"m","output_index":0,"content_index":0,"delta":${delta},"logprobs":[],"obfuscation":"${'x'.repeat(number % 7)}"}`
const styles: readonly Style[] = [
  padded,
  (delta, number) =>
    `{"type": "response.output_text.delta", "content_index": 0, "delta": ${delta}, "item_id": "m", "output_index": 0, "logprobs": [], "sequence_number": ${number} }`,
  (delta, number) =>
    `{"obfuscation":"${'y'.repeat(number % 5)}","sequence_number":${number},"output_index":0,"delta":${delta},"content_index":0,"item_id":"m","logprobs":[],"type":"response.output_text.delta"}`,
]

const frame = (data: string) => `event: ${/"type": ?"([\w.]+)"/.exec(data)?.[1]}\ndata: ${data}\n\n`
const numbered = (wires: readonly Wire[], from: number) =>
  wires.map((wire, at) => frame(JSON.stringify({ ...wire, sequence_number: from + at }))).join('')

/** A stream with these JSON strings as deltas; `skip` numbers are left out before the first. */
function streamOf(deltas: readonly string[], style: Style, skip = 0): string {
  const text = deltas.map((delta) => JSON.parse(delta) as string).join('')
  const told = deltas.map((delta, at) => frame(style(delta, at + 2 + skip)))
  return numbered(beginning, 0) + told.join('') + numbered(ending(text), deltas.length + 2 + skip)
}

function eventsIn(stream: string): Wire[] {
  return stream
    .split('\n\n')
    .filter((each) => each !== '')
    .map((each, index) => {
      const [name = '', data = ''] = each.split('\n')
      const wire = JSON.parse(data.slice('data: '.length)) as Wire
      expect([name, wire['sequence_number']]).toEqual([`event: ${String(wire['type'])}`, index])
      return wire
    })
}

const deltasIn = (events: readonly Wire[]) =>
  events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)

const words = ['"It is "', '"so\\n"', '"\\"Gr\\u00fc\\u00dfe\\" "', '"🦆 \\\\ "', '""', '"end."']

describe('a stream that passes', () => {
  test.each([
    ['leaves it out', ''],
    ['writes null', ',"logprobs":null'],
  ])('has the list of log probabilities in every delta where its host %s', (_, given) => {
    const style: Style = (delta, number) =>
      `{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":${delta}${given},"sequence_number":${number}}`
    const { shown, ending: end } = runStream(open(), Buffer.from(streamOf(words, style)), [])
    const told = eventsIn(shown + end).filter(({ type }) => type === 'response.output_text.delta')
    expect(told.map(({ logprobs }) => logprobs)).toEqual(words.map(() => []))
    expect(deltasIn(told)).toEqual(words.map((word) => JSON.parse(word) as string))
  })

  for (const [index, style] of styles.entries()) {
    test(`shows its deltas byte for byte, cut anywhere: style ${index + 1}`, () => {
      const stream = streamOf(words, style)
      const bytes = Buffer.from(stream)
      const first = stream.indexOf('event: response.output_text.delta')
      const last = stream.indexOf('event: response.output_item.done')
      for (let cut = 0; cut < bytes.length; cut += 1) {
        const rewriter = open()
        const { shown } = runStream(rewriter, bytes, [cut])
        expect(rewriter.failure).toBeNull()
        expect(shown).toContain(stream.slice(first, last))
        expect(rewriter.reading().outputPieces).toBe(5)
      }
    })

    test(`gets numbers without gaps where its host leaves some out: style ${index + 1}`, () => {
      const { shown, ending: end } = runStream(open(), Buffer.from(streamOf(words, style, 9)))
      expect(deltasIn(eventsIn(shown + end))).toEqual(words.map((word) => JSON.parse(word)))
    })

    test(`is parsed where a member must be read or edited, not for every delta: style ${index + 1}`, () => {
      const many = Array.from({ length: 2_000 }, (_, at) => `"word ${at} "`)
      const bytes = Buffer.from(streamOf(many, style))
      const rewriter = open()
      const parse = spyOn(JSON, 'parse')
      try {
        const { shown } = runStream(rewriter, bytes)
        expect(parse.mock.calls.length).toBeLessThan(40)
        expect(shown).toContain('word 1999 ')
        expect(rewriter.reading()).toMatchObject({ outputPieces: 2_000, usage: { outputTokens: 4 } })
      } finally {
        parse.mockRestore()
      }
    })

    test(`breaks where a delta is not JSON, even after deltas that are only compared: style ${index + 1}`, () => {
      for (const broken of ['"a\\x"', '"a\tb"', '"a', '"a"b"']) {
        const begun = streamOf(words, style).split('event: response.output_item.done')[0] ?? ''
        const rewriter = open()
        rewriter.push(Buffer.from(begun + frame(style(broken, 8))))
        expect(rewriter.failure).toMatchObject({ type: 'provider_failed' })
      }
    })
  }

  test('has its unfinished items when it breaks off, with the text of deltas that were only compared', () => {
    const begun = streamOf(words, padded).split('event: response.output_item.done')[0] ?? ''
    const rewriter = open()
    const piece = rewriter.push(Buffer.from(begun))
    rewriter.end()
    const failure = rewriter.failure ?? new GatewayError('internal', 'no failure')
    const told = Buffer.from(piece ?? '').toString() + Buffer.from(rewriter.encodeError(failure)).toString()
    const failed = eventsIn(told).at(-1)?.['response'] as Wire
    const text = words.map((word) => JSON.parse(word) as string).join('')
    expect(failed['output']).toMatchObject([{ id: 'm', status: 'incomplete', content: [{ text }] }])
  })

  test('names no unfinished item whose text is too long to be kept, and the item after it with its text', () => {
    const long = JSON.stringify('x'.repeat(200_000))
    const deltas = [2, 3].map((number) => frame(padded(long, number))).join('')
    const broken = (stream: string): unknown => {
      const rewriter = open()
      rewriter.push(Buffer.from(stream))
      rewriter.end()
      const told = Buffer.from(rewriter.encodeError(new GatewayError('internal', 'broken'))).toString()
      const failed = JSON.parse(/event: response.failed\ndata: (.*)\n/.exec(told)?.[1] ?? '') as Wire
      return (failed['response'] as Wire)['output']
    }
    const begun = numbered(beginning, 0) + deltas
    expect(broken(begun)).toEqual([])
    const next = [
      { type: 'response.output_item.done', output_index: 0, item: message('x'.repeat(400_000)) },
      { type: 'response.output_item.added', output_index: 1, item: { ...message(null), id: 'n' } },
    ]
    const ofNext = padded('"It"', 6).replace('"m","output_index":0', '"n","output_index":1')
    expect(broken(begun + numbered(next, 4) + frame(ofNext))).toMatchObject([
      { id: 'm', status: 'completed' },
      { id: 'n', status: 'incomplete', content: [{ text: 'It' }] },
    ])
  })

  test('does not count deltas of a part that has ended, whether they are parsed or not', () => {
    const late = Array.from({ length: 3 }, (_, at) => frame(padded('"late"', 5 + at)))
    const done = { type: 'response.output_item.done', output_index: 0, item: message('It is ') }
    const rewriter = open()
    const stream =
      numbered(beginning, 0) +
      [2, 3].map((number) => frame(padded('"It "', number))).join('') +
      numbered([done], 4) +
      late.join('')
    rewriter.push(Buffer.from(stream))
    expect(rewriter.reading().outputPieces).toBe(2)
  })

  test('shows every delta with its log probabilities', () => {
    const logprobs = '[{"token":"It","logprob":-0.5,"bytes":null,"top_logprobs":[]}]'
    const style: Style = (delta, number) =>
      `{"type":"response.output_text.delta","sequence_number":${number},"item_id":"m","output_index":0,"content_index":0,"delta":${delta},"logprobs":${logprobs}}`
    const { shown, ending: end } = runStream(open(), Buffer.from(streamOf(words, style)))
    expect(eventsIn(shown + end).filter(({ logprobs: told }) => Array.isArray(told))).toHaveLength(6)
  })
})
