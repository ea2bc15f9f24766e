import { describe, expect, test } from 'bun:test'
import { type KeytermRules, unboundedKeyterms } from '../../canonical/endpoint.ts'
import { keytermProblem, tidyKeyterms } from './keyterms.ts'

test('terms are sent once, without space around them', () => {
  expect(tidyKeyterms([' head race', 'head race', '  ', 'sluice '])).toEqual(['head race', 'sluice'])
})

describe('the bounds of a provider’s key terms', () => {
  test.each<[string, Partial<KeytermRules>, string[], string | null]>([
    ['no bound', {}, ['a'.repeat(100), 'b c d e f g h'], null],
    ['exactly so many', { countMax: 2 }, ['a', 'b'], null],
    ['one too many', { countMax: 2 }, ['a', 'b', 'c'], 'it takes at most 2 terms, and these are 3'],
    ['doubles count once', { countMax: 1 }, ['a', ' a '], null],
    ['49 characters', { charactersMax: 49 }, ['😀'.repeat(49)], null],
    [
      '50 characters',
      { charactersMax: 49 },
      ['ok', 'x'.repeat(50)],
      `it takes at most 49 characters in a term, and "${'x'.repeat(50)}" has 50`,
    ],
    ['five words', { wordsMax: 5 }, ['one two  three four five'], null],
    [
      'six words',
      { wordsMax: 5 },
      ['one two three four five six'],
      'it takes at most 5 words in a term, and "one two three four five six" has 6',
    ],
    ['a bracket', { forbidden: '<>\\' }, ['a\\b'], 'it takes no "\\\\" in a term, and "a\\\\b" has one'],
    ['as many words as tokens', { tokensMax: 4 }, ['a b', 'c d'], null],
    [
      'more words than tokens',
      { tokensMax: 4 },
      ['a b', 'c d e'],
      'it takes at most 4 tokens in all terms together, and these are 5 words',
    ],
  ])('%s', (_, rules, terms, problem) => {
    expect(keytermProblem(terms, { ...unboundedKeyterms, ...rules })).toBe(problem)
  })
})
