import { expect, test } from 'bun:test'
import { keyFilterOf, keyFilterWords } from './key-filter.ts'

const keys = [
  { id: 'key_1', name: 'CI' },
  { id: 'key_2', name: 'night shift' },
  { id: 'key_3', name: 'ci' },
]

test('the name of a key stands for the ids of all keys that have it', () => {
  expect(keyFilterOf('night shift', keys)).toBe('key_2')
  expect(keyFilterOf('ci', keys)).toBe('key_1,key_3')
})

test('an id, and a text that names no key, stay as they are', () => {
  expect(keyFilterOf('key_2', keys)).toBe('key_2')
  expect(keyFilterOf('nobody', keys)).toBe('nobody')
})

test('the filter is shown with the names of its keys', () => {
  expect(keyFilterWords('key_2', keys)).toBe('night shift')
  expect(keyFilterWords('key_2,key_9', keys)).toBe('night shift, key_9')
})
