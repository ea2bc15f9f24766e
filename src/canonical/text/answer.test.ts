import { expect, test } from 'bun:test'
import { GatewayError } from '../../core/errors.ts'
import { noUsage } from '../usage.ts'
import { emptyPart, joinEvents, type Answer, type AnswerPart } from './answer.ts'
import type { Piece } from './events.ts'
import type { TextEvent } from './events.ts'

const answer: Answer = {
  upstreamId: 'up-1',
  upstreamModel: 'model-1',
  choices: [
    {
      parts: [
        {
          ...emptyPart({ type: 'reasoning', id: 'rs_1', origin: 'responses' }),
          summary: ['first', 'second'],
          sealed: 'sealed',
        },
        {
          ...emptyPart({ type: 'text' }),
          text: 'hello',
          annotations: [{ url: 'https://example.com', title: null, citedText: null, start: 0, end: 5 }],
          logprobs: [{ token: 'hello', logprob: -0.1, bytes: null, top: [] }],
        },
        {
          ...emptyPart({ type: 'tool_call', id: 'c1', name: 'weather', kind: 'function' }),
          text: '{"city":"Oslo"}',
        },
      ],
      finish: { reason: 'tool_calls', native: 'tool_calls', stopSequence: null, refusal: null },
    },
    { parts: [], finish: { reason: 'stop', native: 'stop', stopSequence: null, refusal: null } },
  ],
  usage: { usage: noUsage, mediaTokens: null, serviceTier: null, reportedCostNanocredits: null },
}

test('an answer is the events of its stream, joined', () => {
  expect(joinEvents(eventsOf(answer))).toEqual(answer)
})

test('pieces of a part are put together in their order', () => {
  const joined = joinEvents([
    { type: 'begin', upstreamId: null, upstreamModel: null },
    { type: 'part_begin', choice: 0, part: 0, head: { type: 'text' } },
    { type: 'piece', choice: 0, part: 0, piece: { type: 'text', text: 'a' } },
    { type: 'piece', choice: 0, part: 0, piece: { type: 'text', text: 'b' } },
    { type: 'part_end', choice: 0, part: 0 },
  ])
  expect(joined.choices).toEqual([{ parts: [{ ...emptyPart({ type: 'text' }), text: 'ab' }], finish: null }])
})

test('a failed stream does not become an answer', () => {
  const error = new GatewayError('provider_failed', 'It broke off.')
  expect(() => joinEvents([{ type: 'failure', error }])).toThrow(error)
})

/** The events of a whole answer, with every part in one piece. */
function* eventsOf(whole: Answer): Generator<TextEvent> {
  yield { type: 'begin', upstreamId: whole.upstreamId, upstreamModel: whole.upstreamModel }
  for (const [choice, { parts }] of whole.choices.entries()) {
    for (const [part, each] of parts.entries()) {
      yield { type: 'part_begin', choice, part, head: each.head }
      for (const piece of piecesOf(each)) yield { type: 'piece', choice, part, piece }
      yield { type: 'part_end', choice, part }
    }
  }
  for (const [choice, { finish }] of whole.choices.entries()) {
    if (finish !== null) yield { type: 'finish', choice, ...finish }
  }
  if (whole.usage !== null) yield { type: 'usage', usage: whole.usage }
}

function* piecesOf(part: AnswerPart): Generator<Piece> {
  for (const [index, text] of part.summary.entries()) yield { type: 'summary', text, index }
  const kind = part.head.type === 'tool_call' ? 'arguments' : 'text'
  if (part.text !== '') yield { type: kind, text: part.text }
  if (part.logprobs !== null) yield { type: 'logprobs', tokens: part.logprobs }
  for (const annotation of part.annotations) yield { type: 'annotation', annotation }
  if (part.signature !== null) yield { type: 'signature', signature: part.signature }
  if (part.sealed !== null) yield { type: 'sealed', data: part.sealed }
}
