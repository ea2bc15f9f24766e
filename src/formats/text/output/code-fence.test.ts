import { expect, test } from 'bun:test'
import { CodeFence, withoutFence } from './code-fence.ts'

const inPieces = (text: string, length: number): string => {
  const fence = new CodeFence()
  let shown = ''
  for (let at = 0; at < text.length; at += length) shown += fence.push(text.slice(at, at + length))
  return shown + fence.end()
}

test('a text without a fence around it stays as it is, in whatever pieces', () => {
  for (const text of [
    '',
    ' ',
    '`',
    '``',
    '```',
    'Hello ``` there',
    '`code`',
    '```js console.log() ```',
    '{"a":"```"}\n',
  ]) {
    for (const length of [1, 2, 5, 100]) expect(inPieces(text, length)).toBe(text)
  }
})

test('a fence around a text is taken off, and marks inside it stay', () => {
  for (const length of [1, 2, 3, 7, 100]) {
    expect(inPieces('```json\n{"a":1}\n```', length).trim()).toBe('{"a":1}')
    expect(inPieces('```\na ``` b\n```\n', length).trim()).toBe('a ``` b')
  }
})

test('what is kept back is bounded, whatever comes', () => {
  const spaces = ' '.repeat(100_000)
  expect(withoutFence(`\`\`\`json\n{${spaces}`)).toBe(`{${spaces}`)
  const fence = new CodeFence()
  let shown = fence.push('```json\n{').length
  for (let turn = 0; turn < 100_000; turn += 1) shown += fence.push(' ').length
  expect(shown).toBeGreaterThan(99_000)
})
