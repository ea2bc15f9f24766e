import type { KeytermRules } from '../../canonical/endpoint.ts'
import { codePoints } from './audio-fields.ts'

/** The terms as they are sent: trimmed and without duplicates. */
export function tidyKeyterms(keyterms: readonly string[]): string[] {
  return [...new Set(keyterms.map((term) => term.trim()).filter((term) => term !== ''))]
}

/** Why a provider with these rules cannot take the terms, as a text for the caller; null when it can. */
export function keytermProblem(keyterms: readonly string[], rules: KeytermRules): string | null {
  const terms = tidyKeyterms(keyterms)
  const { countMax, tokensMax } = rules
  if (countMax !== null && terms.length > countMax)
    return `it takes at most ${countMax} terms, and these are ${terms.length}`
  const words = terms.reduce((sum, term) => sum + wordsOf(term), 0)
  if (tokensMax !== null && words > tokensMax)
    return `it takes at most ${tokensMax} tokens in all terms together, and these are ${words} words`
  for (const term of terms) {
    const problem = termProblem(term, rules)
    if (problem !== null) return problem
  }
  return null
}

function termProblem(term: string, { charactersMax, wordsMax, forbidden }: KeytermRules): string | null {
  const characters = codePoints(term)
  if (charactersMax !== null && characters > charactersMax)
    return `it takes at most ${charactersMax} characters in a term, and ${quoted(term)} has ${characters}`
  const words = wordsOf(term)
  if (wordsMax !== null && words > wordsMax)
    return `it takes at most ${wordsMax} words in a term, and ${quoted(term)} has ${words}`
  const found = [...forbidden].find((character) => term.includes(character))
  return found === undefined ? null : `it takes no ${quoted(found)} in a term, and ${quoted(term)} has one`
}

function wordsOf(term: string): number {
  return term.split(/\s+/).length
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
