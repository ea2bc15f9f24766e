import { describe, expect, test } from 'bun:test'
import { responsesTurns } from './socket-turns.ts'

const read = (message: unknown) => responsesTurns.read(Buffer.from(JSON.stringify(message)), null)
const create = (more: Record<string, unknown>) => read({ type: 'response.create', model: 'm', ...more })
const bodyOf = (turn: ReturnType<typeof read>, history: string[] = []): unknown =>
  JSON.parse(Buffer.from(turn.bodyAfter(history.map((part) => Buffer.from(part)))).toString())

describe('a message as the body of a call', () => {
  test('loses what only sockets have and always streams', () => {
    const turn = create({
      input: 'x',
      stream: false,
      stream_id: 'a',
      generate: true,
      event_id: 'e',
      top_p: 0.5,
    })
    expect(bodyOf(turn)).toEqual({ model: 'm', input: 'x', stream: true, top_p: 0.5 })
    expect([turn.lane, turn.isWarmUp, turn.previousId]).toEqual(['a', false, null])
  })

  test('has the history before its own items, whether it is a text, a list, empty or left out', () => {
    const history = ['{"role":"user","content":"1"}', '', '{"type":"message"},{"type":"reasoning"}']
    const before = [{ role: 'user', content: '1' }, { type: 'message' }, { type: 'reasoning' }]
    expect(bodyOf(create({ input: 'é"' }), history)).toEqual({
      model: 'm',
      stream: true,
      input: [...before, { role: 'user', content: 'é"' }],
    })
    expect(bodyOf(create({ input: [{ role: 'user', content: '2' }] }), history)).toMatchObject({
      input: [...before, { role: 'user', content: '2' }],
    })
    for (const input of [[], undefined])
      expect(bodyOf(create({ input }), history)).toMatchObject({ input: before })
  })
})

describe('an answer', () => {
  const frames = [
    'event: response.created\ndata: {"type":"response.created","response":{"tools":[],"id":"r1"}}\n\n',
    ': HEADRACE PROCESSING\n\n',
    'event: response.output_item.done\ndata: {"type":"response.output_item.done","item":{"type":"reasoning","id":"rs","summary":[]}}\n\n',
    'data: {"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","encrypted_content":"é"}}\n\n',
    'event: response.output_item.done\ndata: {"type":"response.output_item.done","item":{"type":"message","content":[]}}\n\n',
    'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r1"}}\n\n',
    'data: [DONE]\n\n',
  ]

  test('is shown event by event wherever its reads end, and kept without thoughts that nobody can open', () => {
    const bytes = Buffer.from(frames.join(''))
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const events = responsesTurns.createEvents(null)
      const shown = [
        ...events.push(bytes.subarray(0, cut)),
        ...events.push(bytes.subarray(cut)),
        ...events.end(),
      ]
      expect(shown.map((text) => (JSON.parse(text) as { type: string }).type)).toEqual([
        'response.created',
        'response.output_item.done',
        'response.output_item.done',
        'response.output_item.done',
        'response.completed',
      ])
      expect(events.answered?.id).toBe('r1')
      expect(Buffer.from(events.answered?.items ?? []).toString()).toBe(
        '{"type":"reasoning","encrypted_content":"é"},{"type":"message","content":[]}',
      )
    }
  })

  test('that failed cannot be continued', () => {
    const events = responsesTurns.createEvents(null)
    events.push(
      Buffer.from(`${frames[0]}event: response.failed\ndata: {"type":"response.failed","response":{}}\n\n`),
    )
    expect(events.answered).toBeNull()
  })

  test('names the lane of its turn in every event', () => {
    const events = responsesTurns.createEvents('a"b')
    const shown = [...events.push(Buffer.from(frames.join('')))].map(
      (text) => JSON.parse(text) as { stream_id: string },
    )
    expect(shown.map(({ stream_id: lane }) => lane)).toEqual(Array.from({ length: 5 }, () => 'a"b'))
  })
})
