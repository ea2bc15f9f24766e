import { describe, expect, test } from 'bun:test'
import { entitiesOfOffsets, entitiesOfTimes, entitiesOfWords } from './entity-spans.ts'

const wordsOf = (text: string) => text.split(' ').map((word, at) => ({ word, start: at, end: at + 0.8 }))
/** Counts in code points, as callers do. */
const sliceOf = (
  text: string,
  { start_char: start, end_char: end }: { start_char: number; end_char: number },
) => [...text].slice(start, end).join('')

describe('entities from numbers of words', () => {
  test('begin with their first word and end with their last, without the punctuation after it', () => {
    const text = 'We met Anna in New York, again.'
    const words = wordsOf('we met anna in new york again')
    expect(
      entitiesOfWords(text, words, [
        { text: ' Anna', type: 'NAME', startWord: 2, endWord: 3 },
        { text: ' New York', type: 'GPE', startWord: 4, endWord: 6 },
      ]),
    ).toEqual([
      { text: 'Anna', type: 'NAME', start_char: 7, end_char: 11 },
      { text: 'New York', type: 'GPE', start_char: 15, end_char: 23 },
    ])
  })

  test('count an emoji as one character', () => {
    const text = '🎉🎉 Anna said 🙂 hello to Peter'
    const entities = entitiesOfWords(text, wordsOf('anna said hello to peter'), [
      { text: 'Anna', type: 'NAME', startWord: 0, endWord: 1 },
      { text: 'Peter', type: 'NAME', startWord: 4, endWord: 5 },
    ])
    expect(entities).toEqual([
      { text: 'Anna', type: 'NAME', start_char: 3, end_char: 7 },
      { text: 'Peter', type: 'NAME', start_char: 24, end_char: 29 },
    ])
    expect(entities.map((entity) => sliceOf(text, entity))).toEqual(['Anna', 'Peter'])
  })

  test('are at the numbered word, even when the same word occurs earlier', () => {
    const text = 'Paris is not Paris, Texas.'
    const [entity] = entitiesOfWords(text, wordsOf('paris is not paris texas'), [
      { text: 'Paris, Texas', type: 'GPE', startWord: 3, endWord: 5 },
    ])
    expect(entity).toEqual({ text: 'Paris, Texas', type: 'GPE', start_char: 13, end_char: 25 })
    const [alone] = entitiesOfWords(text, wordsOf('paris is not paris texas'), [
      { text: 'Paris', type: 'GPE', startWord: 3, endWord: 4 },
    ])
    expect(alone).toEqual({ text: 'Paris', type: 'GPE', start_char: 13, end_char: 18 })
  })

  test('do not take a short word for a piece of a longer one', () => {
    const text = 'An answer: a man, A.'
    const words = wordsOf('answer a man a')
    expect(
      entitiesOfWords(text, words, [
        { text: 'a', type: 'X', startWord: 1, endWord: 2 },
        { text: 'A', type: 'X', startWord: 3, endWord: 4 },
      ]).map((entity) => entity.start_char),
    ).toEqual([11, 18])
  })

  test('are searched by their own text when the transcript writes a word differently', () => {
    const text = 'On May 18 we met the U.S. team for $5.'
    const words = wordsOf('on may eighteen we met the us team for five dollars')
    expect(
      entitiesOfWords(text, words, [
        { text: 'May 18', type: 'DATE', startWord: 1, endWord: 3 },
        { text: 'U.S.', type: 'GPE', startWord: 6, endWord: 7 },
        { text: '$5', type: 'MONEY', startWord: 9, endWord: 11 },
        { text: 'Atlantis', type: 'X', startWord: 9, endWord: 11 },
      ]),
    ).toEqual([
      { text: 'May 18', type: 'DATE', start_char: 3, end_char: 9 },
      { text: 'U.S.', type: 'GPE', start_char: 21, end_char: 25 },
      { text: '$5', type: 'MONEY', start_char: 35, end_char: 37 },
    ])
  })

  test('are found where no spaces separate words', () => {
    const text = '今日は東京へ行きます。'
    const words = ['今日', 'は', '東京', 'へ', '行き', 'ます'].map((word) => ({ word }))
    expect(entitiesOfWords(text, words, [{ text: '東京', type: 'LOC', startWord: 2, endWord: 3 }])).toEqual([
      { text: '東京', type: 'LOC', start_char: 3, end_char: 5 },
    ])
  })

  test('are left out when their numbers match no word and the text does not contain them', () => {
    const told = [{ text: 'Nobody', type: 'NAME', startWord: 9, endWord: 12 }]
    expect(entitiesOfWords('Hello there.', wordsOf('hello there'), told)).toEqual([])
  })
})

test('entities from seconds cover the words whose middle they cover', () => {
  const text = 'Call Maria Lopez on Monday.'
  const words = wordsOf('call maria lopez on monday')
  expect(
    entitiesOfTimes(text, words, [
      { text: 'maria lopez', type: 'person_name', start: 1, end: 2.8 },
      { text: 'Monday', type: 'date', start: 4, end: 4.8 },
    ]),
  ).toEqual([
    { text: 'Maria Lopez', type: 'person_name', start_char: 5, end_char: 16 },
    { text: 'Monday', type: 'date', start_char: 20, end_char: 26 },
  ])
})

describe('entities with offsets of the provider’s own', () => {
  const text = '🎉 Anna met 🙂 Peter'
  test.each([
    ['code points, exclusive', 13, 18],
    ['code points, inclusive', 13, 17],
    ['UTF-16, exclusive', 15, 20],
    ['UTF-16, inclusive', 15, 19],
  ])('count by %s', (_, start, end) => {
    const [entity] = entitiesOfOffsets(text, [{ text: 'Peter', type: 'name', start, end }])
    expect(entity).toEqual({ text: 'Peter', type: 'name', start_char: 13, end_char: 18 })
  })

  test('that do not fit are searched for in the text, and left out when they are not found', () => {
    const told = (own: string) => [{ text: own, type: 'name', start: 1, end: 3 }]
    expect(entitiesOfOffsets(text, told('Anna'))).toEqual([
      { text: 'Anna', type: 'name', start_char: 2, end_char: 6 },
    ])
    expect(entitiesOfOffsets(text, told('Maria'))).toEqual([])
  })
})
