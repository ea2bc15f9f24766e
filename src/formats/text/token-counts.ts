/** A provider's token counts as it writes them; 0 where it says nothing of a part. */
export interface WrittenCounts {
  input: number
  output: number
  /** Null when it is missing or broken. */
  total: number | null
  cached: number
  written: number
  inputAudio: number
  reasoning: number
  outputAudio: number
}

/** How the provider is known to count. */
export interface CountingHabits {
  /** Reasoning that exceeds the output is not part of it, whatever the total says. */
  isReasoningApart: boolean
  /** Audio was heard, so that input tokens of which nothing else is said are of it. */
  isAudioHeard: boolean
}

/** Token counts whose totals include their parts. */
export type TokenCounts = Omit<WrittenCounts, 'total'>

type Part = 'reasoning' | 'cached' | 'inputAudio' | 'written'

/** In the order in which they are looked for beside the total that they belong to. */
const parts: readonly Part[] = ['reasoning', 'cached', 'inputAudio', 'written']
/** Every choice of one or more of them, short ones first. */
const partSets = Array.from({ length: 2 ** parts.length - 1 }, (_, choice) =>
  parts.filter((_part, place) => ((choice + 1) & (1 << place)) > 0),
).toSorted((left, right) => left.length - right.length)

/**
 * Counts as the gateway understands them: parts inside their totals. The provider's sum over all tokens says which parts
 * it counts beside their totals, and what it counts nowhere else; such tokens are of the output unless it is known whose
 * they are. A part that still exceeds its total is lost, and nothing else with it.
 */
export function settleCounts(given: WrittenCounts, habits: CountingHabits): TokenCounts {
  const { total, ...counts } = given
  const beyond = Math.max(0, (total ?? 0) - counts.input - counts.output)
  let hidden = beyond
  for (const part of partsBeside(given, beyond)) {
    counts[wholeOf(part)] += given[part]
    hidden -= given[part]
  }
  if (hidden > 0) addHidden(counts, hidden, habits)
  if (habits.isReasoningApart && counts.reasoning > counts.output) counts.output += counts.reasoning
  return withoutContradictions(counts)
}

function wholeOf(part: Part): 'input' | 'output' {
  return part === 'reasoning' ? 'output' : 'input'
}

/**
 * The parts that make up what the sum has beyond input and output. If none do exactly, those that cannot be inside their
 * total, as far as there is room for them. Of several answers the one with most such parts counts, then the shortest.
 */
function partsBeside(given: WrittenCounts, beyond: number): readonly Part[] {
  if (beyond === 0) return []
  const exceeds = (part: Part): boolean => given[part] > given[wholeOf(part)]
  const rankOf = (set: readonly Part[]): number => set.filter(exceeds).length * parts.length - set.length
  let best: readonly Part[] = []
  let isBestExact = false
  for (const set of partSets) {
    if (set.some((part) => given[part] === 0)) continue
    const sum = set.reduce((tokens, part) => tokens + given[part], 0)
    const isExact = sum === beyond
    if (!isExact && (sum > beyond || isBestExact || !set.every(exceeds))) continue
    if (isExact === isBestExact && rankOf(set) <= rankOf(best)) continue
    best = set
    isBestExact = isExact
  }
  return best
}

/** Tokens that show only in the sum. A prompt of no tokens is one that was left out. */
function addHidden(counts: TokenCounts, hidden: number, { isAudioHeard }: CountingHabits): void {
  if (isAudioHeard && counts.inputAudio === 0) {
    counts.input += hidden
    counts.inputAudio = hidden
  } else if (counts.input === 0) counts.input = hidden
  else counts.output += hidden
}

function withoutContradictions(counts: TokenCounts): TokenCounts {
  const { input, output } = counts
  const cached = orLost(counts.cached, input)
  return {
    input,
    output,
    cached,
    // What was read from a cache was not written to it.
    written: orLost(counts.written, input - cached),
    inputAudio: orLost(counts.inputAudio, input),
    reasoning: orLost(counts.reasoning, output),
    outputAudio: orLost(counts.outputAudio, output),
  }
}

function orLost(part: number, whole: number): number {
  return part > whole ? 0 : part
}
