import { fileURLToPath } from 'node:url'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/**
 * A language of ten sentences for pocketsphinx: the words and how each is said, in the letters of its acoustic model
 * (https://en.wikipedia.org/wiki/ARPABET), and the sentences in any order and number as a grammar. With its
 * full English vocabulary pocketsphinx mishears most words of a synthetic voice; with these sentences it
 * recognises nearly every word, so tests know the words and their times.
 */
export const smallLanguageOptions: readonly string[] = [
  '-dict',
  pathOf('./small-language.dict'),
  '-jsgf',
  pathOf('./small-language.jsgf'),
  // Wide enough that the recogniser discards none of these few words too early.
  '-beam',
  '1e-120',
  '-pbeam',
  '1e-120',
  '-wbeam',
  '1e-100',
]
