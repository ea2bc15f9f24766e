const separators = /[\s,]+/g

/**
 * A term as one word, for providers whose terms may contain neither spaces nor commas; empty when nothing else is left.
 */
export function joinTerm(term: string, joiner: string): string {
  return /[^\s,]/.test(term) ? term.trim().replace(separators, joiner) : ''
}

/**
 * Replaces the joiners in a transcript that repeats joined terms: `head_race` becomes `head race`, with the caller's
 * separators and the letters that were heard. A joiner that belongs to a term stays.
 */
export function unjoinTerms(terms: readonly string[], joiner: string): (text: string) => string {
  const joined = terms.flatMap((term) => {
    const trimmed = term.trim()
    const written = joinTerm(trimmed, joiner)
    return written === '' || written === trimmed
      ? []
      : [{ written: written.toLowerCase(), gaps: gapsOf(trimmed, joiner) }]
  })
  // The longest first, because one term may be the beginning of another.
  joined.sort((left, right) => right.written.length - left.written.length)
  if (joined.length === 0) return (text) => text
  const unjoin = (token: string) =>
    joined.reduce((shown, { written, gaps }) => withGaps(shown, written, gaps), token)
  return (text) =>
    text.includes(joiner)
      ? text.replace(/\S+/g, (token) => (token.includes(joiner) ? unjoin(token) : token))
      : text
}

interface Gap {
  at: number
  joiner: string
  text: string
}

/** The places in a joined term where joiners replace the caller's own characters. */
function gapsOf(term: string, joiner: string): Gap[] {
  let shift = 0
  return [...term.matchAll(separators)].map(({ 0: text, index }) => {
    const gap = { at: index - shift, joiner, text }
    shift += text.length - joiner.length
    return gap
  })
}

const letterOrDigit = /[\p{L}\p{N}]/u

function withGaps(token: string, written: string, gaps: readonly Gap[]): string {
  const lower = token.toLowerCase()
  // Lower case may change the length; a term that cannot be located stays unchanged.
  if (lower.length !== token.length) return token
  let from = 0
  let shown = ''
  for (let at = lower.indexOf(written); at >= 0; at = lower.indexOf(written, at + 1)) {
    const end = at + written.length
    if (at < from || isInside(token, at, end)) continue
    shown += token.slice(from, at) + opened(token.slice(at, end), gaps)
    from = end
  }
  return shown + token.slice(from)
}

/** Whether the match is only a part of a longer word. */
function isInside(token: string, start: number, end: number): boolean {
  return letterOrDigit.test(token.charAt(start - 1)) || letterOrDigit.test(token.charAt(end))
}

function opened(heard: string, gaps: readonly Gap[]): string {
  let from = 0
  let shown = ''
  for (const { at, joiner, text } of gaps) {
    shown += heard.slice(from, at) + text
    from = at + joiner.length
  }
  return shown + heard.slice(from)
}
