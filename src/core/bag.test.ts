import { expect, test } from 'bun:test'
import { Bag } from './bag.ts'

const member = (name: string) => ({ name, place: -1 })
const namesIn = (bag: Bag<ReturnType<typeof member>>) => [...bag].map(({ name }) => name).toSorted()

test('a deleted member is gone, wherever it was, and no other member is', () => {
  const [first, second, third] = [member('first'), member('second'), member('third')]
  for (const gone of [first, second, third]) {
    const bag = new Bag<ReturnType<typeof member>>()
    for (const each of [first, second, third]) bag.add(each)
    expect(bag.delete(gone)).toBe(true)
    expect(bag.delete(gone)).toBe(false)
    expect(namesIn(bag)).toEqual(['first', 'second', 'third'].filter((name) => name !== gone.name))
    expect(bag.size).toBe(2)
  }
})

test('deleting a value that is not a member deletes no member at its place', () => {
  const bag = new Bag<ReturnType<typeof member>>()
  bag.add(member('one'))
  expect(bag.delete({ name: 'stranger', place: 0 })).toBe(false)
  expect(namesIn(bag)).toEqual(['one'])
})

test('members may leave while all are visited', () => {
  const bag = new Bag<ReturnType<typeof member>>()
  for (const name of ['a', 'b', 'c']) bag.add(member(name))
  const seen: string[] = []
  for (const each of bag) {
    seen.push(each.name)
    bag.delete(each)
  }
  expect(seen).toEqual(['a', 'b', 'c'])
  expect(bag.size).toBe(0)
})
