import { describe, expect, test } from 'bun:test'
import { HistoryRoom } from './answer-history.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const texts = (parts: readonly Uint8Array[] | null): string[] | null =>
  parts?.map((part) => Buffer.from(part).toString()) ?? null

describe('the answers of a connection', () => {
  test('lead back to the beginning of their conversation, on two ways too', () => {
    const history = new HistoryRoom().open()
    history.add({ id: 'a', items: bytes('A') }, bytes('1'), null)
    history.add({ id: 'b', items: bytes('B') }, bytes('2'), 'a')
    history.add({ id: 'c', items: bytes('C') }, bytes('3'), 'a')
    expect(texts(history.upTo('b'))).toEqual(['1', 'A', '2', 'B'])
    expect(texts(history.upTo('c'))).toEqual(['1', 'A', '3', 'C'])
    expect(history.upTo('d')).toBeNull()
  })

  test('are forgotten but for the latest eight, and what these need of the others stays', () => {
    const room = new HistoryRoom()
    const history = room.open()
    for (let turn = 0; turn < 20; turn += 1)
      history.add({ id: `a${turn}`, items: bytes('A') }, bytes('1'), turn === 0 ? null : `a${turn - 1}`)
    expect(history.upTo('a11')).toBeNull()
    expect(history.upTo('a12')).toHaveLength(26)
    expect(history.upTo('a19')).toHaveLength(40)
    expect(room.bytes).toBe(40)
  })

  test('without a common beginning take no room once they are forgotten', () => {
    const room = new HistoryRoom()
    const history = room.open()
    for (let turn = 0; turn < 20; turn += 1)
      history.add({ id: `a${turn}`, items: bytes('A') }, bytes('12'), null)
    expect(room.bytes).toBe(24)
    history.clear()
    expect(room.bytes).toBe(0)
  })

  test('an answer that came twice is kept once', () => {
    const room = new HistoryRoom()
    const history = room.open()
    history.add({ id: 'a', items: bytes('A') }, bytes('1'), null)
    history.add({ id: 'a', items: bytes('B') }, bytes('2'), null)
    expect(texts(history.upTo('a'))).toEqual(['2', 'B'])
    expect(room.bytes).toBe(2)
  })

  test('an answer to what was forgotten meanwhile is not kept, because it would have a gap', () => {
    const history = new HistoryRoom().open()
    history.add({ id: 'b', items: bytes('B') }, bytes('2'), 'a')
    expect(history.upTo('b')).toBeNull()
  })
})

test('when all connections keep too much, the one that rested longest forgets', () => {
  const room = new HistoryRoom(10)
  const [first, second] = [room.open(), room.open()]
  first.add({ id: 'a', items: bytes('AAAA') }, bytes(''), null)
  second.add({ id: 'b', items: bytes('BBBB') }, bytes(''), null)
  first.add({ id: 'c', items: bytes('CCCC') }, bytes(''), 'a')
  expect(second.upTo('b')).toBeNull()
  expect(texts(first.upTo('c'))).toEqual(['', 'AAAA', '', 'CCCC'])
  // More than there is room for at all is not kept.
  second.add({ id: 'd', items: bytes('D'.repeat(11)) }, bytes(''), null)
  expect([first.upTo('c'), second.upTo('d'), room.bytes]).toEqual([null, null, 0])
})
