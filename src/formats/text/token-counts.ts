/** A provider's token counts as it sends them; 0 for a count that it omits. */
export interface WrittenCounts {
  input: number
  output: number
  /** Null when missing or invalid. */
  total: number | null
  cached: number
  written: number
  inputAudio: number
  reasoning: number
  outputAudio: number
}

/** How the provider counts. */
export interface CountingHabits {
  /** Reasoning above the output is not part of it, whatever the total says. */
  isReasoningApart: boolean
  /** The input has audio, so input tokens of unknown kind are audio. */
  isAudioHeard: boolean
}

/** Token counts whose totals include their parts. */
export type TokenCounts = Omit<WrittenCounts, 'total'>

type Part = 'reasoning' | 'cached' | 'inputAudio' | 'written'

/** In the order in which they are searched for. */
const parts: readonly Part[] = ['reasoning', 'cached', 'inputAudio', 'written']
/** Every set of one or more parts, small sets first. */
const partSets = Array.from({ length: 2 ** parts.length - 1 }, (_, choice) =>
  parts.filter((_part, place) => ((choice + 1) & (1 << place)) > 0),
).toSorted((left, right) => left.length - right.length)

/**
 * Counts in the gateway's form: each part is included in its total. The provider's sum over all tokens shows which
 * parts it counts beside their totals, and which tokens it counts nowhere else; these are output unless their kind is
 * known. A part that still exceeds its total is set to zero; nothing else is lost.
 */
export function settleCounts(given: WrittenCounts, habits: CountingHabits): TokenCounts {
  const { total, input, output, cached, written, inputAudio, reasoning, outputAudio } = given
  const counts: TokenCounts = { input, output, cached, written, inputAudio, reasoning, outputAudio }
  const beyond = Math.max(0, (total ?? 0) - input - output)
  let hidden = beyond
  if (beyond > 0) {
    for (const part of partsBeside(given, beyond)) {
      counts[wholeOf(part)] += given[part]
      hidden -= given[part]
    }
  }
  if (hidden > 0) addHidden(counts, hidden, habits)
  if (habits.isReasoningApart && counts.reasoning > counts.output) counts.output += counts.reasoning
  return withoutContradictions(counts)
}

function wholeOf(part: Part): 'input' | 'output' {
  return part === 'reasoning' ? 'output' : 'input'
}

/**
 * The parts that the sum counts beside input and output. An exact set is preferred; otherwise only parts that exceed
 * their total, as far as the sum has room for them. Among several sets, the one with most exceeding parts wins, then
 * the smallest.
 */
function partsBeside(given: WrittenCounts, beyond: number): readonly Part[] {
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

/** Assigns tokens that only the sum counts. An input of zero means that the provider left the count out. */
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
    // Tokens read from a cache were not written to it.
    written: orLost(counts.written, input - cached),
    inputAudio: orLost(counts.inputAudio, input),
    reasoning: orLost(counts.reasoning, output),
    outputAudio: orLost(counts.outputAudio, output),
  }
}

function orLost(part: number, whole: number): number {
  return part > whole ? 0 : part
}
