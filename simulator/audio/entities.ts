import type { SpokenWord } from '../recognise.ts'

/** A named entity and its words; the end is exclusive. */
export interface FoundEntity {
  kind: 'name' | 'place' | 'date' | 'organization'
  startWord: number
  endWord: number
}

const kinds: Readonly<Record<string, FoundEntity['kind']>> = {
  anna: 'name',
  peter: 'name',
  'maria lopez': 'name',
  london: 'place',
  paris: 'place',
  'new york': 'place',
  monday: 'date',
  tuesday: 'date',
  friday: 'date',
  'red cross': 'organization',
}

/** Finds the few names that the simulator knows, in one word or two. */
export function entitiesIn(words: readonly SpokenWord[]): FoundEntity[] {
  const plain = words.map(({ word }) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''))
  const found: FoundEntity[] = []
  for (let at = 0; at < plain.length; at++) {
    const two = kinds[`${plain[at]} ${plain[at + 1]}`]
    const kind = two ?? kinds[plain[at] ?? '']
    if (kind === undefined) continue
    const endWord = at + (two === undefined ? 1 : 2)
    found.push({ kind, startWord: at, endWord })
    at = endWord - 1
  }
  return found
}
