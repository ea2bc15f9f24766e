import { expect, test } from 'bun:test'
import { joinTerm, unjoinTerms } from './joined-terms.ts'

test('a term becomes one word', () => {
  expect(joinTerm('  head   race, lower ', '_')).toBe('head_race_lower')
  expect(joinTerm(' , ', '_')).toBe('')
  expect(joinTerm('x_y', '_')).toBe('x_y')
})

test.each([
  ['The head_race is dry.', 'The head race is dry.'],
  ['HEAD_RACE, (Head_Race) and "head_race"!', 'HEAD RACE, (Head Race) and "head race"!'],
  ['head_race_lower and head_race', 'head race, lower and head race'],
  // Not a term of the caller, or only a part of a longer word.
  ['head_races, ahead_race, tail_race', 'head_races, ahead_race, tail_race'],
  ['snake_case stays', 'snake_case stays'],
  ['head_race/head_race', 'head race/head race'],
])('and is taken apart again: %s', (heard, shown) => {
  expect(unjoinTerms(['head race', 'head race, lower', 'snake_case'], '_')(heard)).toBe(shown)
})

test('a text is unchanged when no term was joined', () => {
  const text = 'a_b c_d'
  expect(unjoinTerms([], '_')(text)).toBe(text)
  expect(unjoinTerms(['a_b', 'c'], '_')(text)).toBe(text)
})

test('a hundred long terms in three hours of talk take no time', () => {
  const terms = Array.from({ length: 100 }, (_, index) => `${'word '.repeat(19)}${index}`)
  const talk = 'some words are said here '.repeat(8_000) + 'and_one '.repeat(1_000)
  const cpuBefore = process.cpuUsage()
  expect(unjoinTerms(terms, '_')(talk)).toBe(talk)
  expect(process.cpuUsage(cpuBefore).user).toBeLessThan(1_000_000)
})
