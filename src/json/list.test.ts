import { expect, test } from 'bun:test'
import { editList, elementsOf } from './list.ts'

const edited = (json: string, edit: (element: string, index: number) => string | null) =>
  editList(Buffer.from(json), (element, index) => {
    const text = edit(element.toString('utf8'), index)
    return text === null ? null : Buffer.from(text)
  }).toString('utf8')

test('elements of a list stay as they are, are replaced or left out', () => {
  const list = '[ {"a": 12345678901234567890} ,"]",[1, [2]],null , 1e400]'
  const elements: string[] = []
  const look = (element: string) => {
    elements.push(element)
    return element
  }
  expect(edited(list, look)).toBe('[{"a": 12345678901234567890},"]",[1, [2]],null ,1e400]')
  expect(elements.map((element) => element.trim())).toEqual([
    '{"a": 12345678901234567890}',
    '"]"',
    '[1, [2]]',
    'null',
    '1e400',
  ])
  expect(edited('[1,2,3]', (element, index) => (index === 1 ? '"two"' : element))).toBe('[1,"two",3]')
  expect(edited('[1,2,3]', (element, index) => (index === 0 ? null : element))).toBe('[2,3]')
  expect(edited('[1]', () => null)).toBe('[]')
  expect(edited('[ ]', () => 'x')).toBe('[]')
})

test('elements of a list are views of its bytes, brackets in texts and all', () => {
  const list = Buffer.from('[ "a],b" ,{"c": [1]}]')
  expect(elementsOf(list).map(String)).toEqual(['"a],b"', '{"c": [1]}'])
  expect(elementsOf(Buffer.from('[ ]'))).toEqual([])
})
