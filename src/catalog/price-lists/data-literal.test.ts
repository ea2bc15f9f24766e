import { expect, test } from 'bun:test'
import { NotData, readDataLiteral } from './data-literal.ts'

test('the first list of a file is read as data, written as bundlers write it', () => {
  const file = `const E = [
  { id: "a", 'b-c': [1, -2.5, 1e6, .5,], flag: !0, off: !1, n: null, 7: true,
    text: 'it\\'s \\u0041\\x42\\n', long: \`two
lines\` },
];
const next = run([]);`
  expect(readDataLiteral(file)).toEqual([
    {
      id: 'a',
      'b-c': [1, -2.5, 1_000_000, 0.5],
      flag: true,
      off: false,
      n: null,
      '7': true,
      text: "it's AB\n",
      long: 'two\nlines',
    },
  ])
})

test('code that would have to be run is refused', () => {
  for (const file of [
    'var x = 1',
    'const E = [process.exit(1)]',
    'const E = [{ a: x }]',
    'const E = [...more]',
    'const E = [`${secret}`]',
    'const E = [!function(){}()]',
    'const E = [1 + 1]',
    'const E = [{ get a() { return 1 } }]',
    'const E = ["never ends',
    'const E = [1, 2',
    `const E = ${'['.repeat(100)}`,
  ]) {
    expect(() => readDataLiteral(file)).toThrow(NotData)
  }
})

test('a member named __proto__ is read as an ordinary member', () => {
  const [read] = readDataLiteral('[{ __proto__: { polluted: !0 } }]') as object[]
  expect(Object.keys(read ?? {})).toEqual(['__proto__'])
  expect('polluted' in {}).toBe(false)
})
