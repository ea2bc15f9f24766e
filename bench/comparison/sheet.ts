import { median } from '../harness/figures.ts'

/** What is measured of every program, and the unit of its figures. */
export const columns = {
  json: { title: 'JSON 1 kB', unit: 'µs' },
  stream: { title: 'SSE, 50 chunks in one piece', unit: 'µs' },
  paced: { title: 'SSE, 50 × 20 ms', unit: 'µs' },
  body: { title: 'JSON 100 kB', unit: 'µs' },
  embeddings: { title: 'embeddings 1536', unit: 'µs' },
  addedP50: { title: 'added p50 at 500/s', unit: 'ms' },
  addedP99: { title: 'added p99 at 500/s', unit: 'ms' },
  memory: { title: 'resident after load', unit: 'MB' },
} as const
export type Column = keyof typeof columns

/** The figures of programs, or of ways to ask one, by what was measured: a figure a round, or why there is none. */
export class Sheet {
  readonly #rounds = new Map<string, readonly number[]>()
  readonly #reasons = new Map<string, string>()

  /** Keeps the figures of a program, one a round; without any the program counts as left out. */
  put(column: string, program: string, rounds: readonly number[]): void {
    if (rounds.length > 0) this.#rounds.set(keyOf(column, program), rounds)
  }

  leaveOut(column: string, program: string, reason: string): void {
    this.#reasons.set(keyOf(column, program), reason)
  }

  /** The median of the rounds; null when there is none. */
  valueOf(column: string, program: string): number | null {
    const rounds = this.#rounds.get(keyOf(column, program))
    return rounds === undefined ? null : median(rounds)
  }

  /** What a program costs of another: the median over the rounds, each of which both had. Null when one is left out. */
  ratioOf(column: string, program: string, other: string): number | null {
    const own = this.#rounds.get(keyOf(column, program))
    const others = this.#rounds.get(keyOf(column, other))
    if (own === undefined || others === undefined) return null
    if (own.length !== others.length) return median(own) / median(others)
    return median(own.map((value, round) => value / (others[round] ?? Number.NaN)))
  }

  /** Why there is no figure. */
  reasonOf(column: string, program: string): string {
    return this.#reasons.get(keyOf(column, program)) ?? 'it was not measured'
  }
}

function keyOf(column: string, program: string): string {
  return `${column} of ${program}`
}
