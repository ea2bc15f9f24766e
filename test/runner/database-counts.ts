/** How many tests ran on each database, and whether that is as it should be. */
export interface DatabaseComparison {
  /** For the reader, or null when no database test ran. */
  line: string | null
  /** Why the two databases were not tested alike, or null. */
  problem: string | null
}

/**
 * Adds up what the database tests recorded, one JSON line per suite and database: `{"database": "sqlite", "tests": 3}`.
 * Both databases run the same suites, so the counts must be equal.
 *
 * `whyNoPostgres` is the reason why PostgreSQL could not take part, or null.
 */
export function compareDatabases(recorded: string, whyNoPostgres: string | null): DatabaseComparison {
  const counts = new Map<string, number>()
  for (const line of recorded.split('\n')) {
    if (line === '') continue
    const { database, tests } = JSON.parse(line) as { database: string; tests: number }
    counts.set(database, (counts.get(database) ?? 0) + tests)
  }
  const sqlite = counts.get('sqlite') ?? 0
  const postgres = counts.get('postgres') ?? 0
  const line =
    sqlite + postgres === 0 ? null : `database tests: ${sqlite} on SQLite, ${postgres} on PostgreSQL`
  if (whyNoPostgres !== null) {
    return { line, problem: `${whyNoPostgres}: its half of the database tests did not run` }
  }
  if (sqlite === postgres) return { line, problem: null }
  return {
    line,
    problem: `${sqlite} tests ran on SQLite and ${postgres} on PostgreSQL; they must be the same`,
  }
}
