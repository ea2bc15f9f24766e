import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { regressionFactor } from './bounds.ts'

/** A budget is kept or missed, which is reported; only a check that fails makes the run fail. */
export type Verdict = 'PASS' | 'MISSED' | 'FAIL' | 'NOT RUN' | ''

/** One line of the table. */
export interface Row {
  case: string
  /** What was measured, for people. */
  figure: string
  /** The budget it was held against; empty for a figure that has none. */
  budget: string
  verdict: Verdict
}

/** What a run has found so far. */
export interface Report {
  rows: Row[]
  /** Ratios by name, the only figures that mean something on another day; compared with the recorded ones. */
  ratios: Record<string, number>
}

/** A number and what it is held against. */
export interface Measured {
  value: number
  limit: number
  unit?: string
}

/** A row for a number with an upper budget. */
export function atMost(what: string, figure: string, { value, limit, unit = '' }: Measured): Row {
  return { case: what, figure, budget: `≤ ${limit}${unit}`, verdict: value <= limit ? 'PASS' : 'MISSED' }
}

/** A row for a number with a lower budget. */
export function atLeast(what: string, figure: string, { value, limit, unit = '' }: Measured): Row {
  return { case: what, figure, budget: `≥ ${limit}${unit}`, verdict: value >= limit ? 'PASS' : 'MISSED' }
}

/** A row for calls that failed where none may; present only then. */
export function failures(what: string, count: number): Row[] {
  return count === 0
    ? []
    : [{ case: `${what}: failures`, figure: String(count), budget: 'none', verdict: 'FAIL' }]
}

/** A row for what could not be measured here. */
export function notRun(what: string, reason: string): Row {
  return { case: what, figure: reason, budget: '', verdict: 'NOT RUN' }
}

/** A figure without a budget. */
export function fact(what: string, figure: string): Row {
  return { case: what, figure, budget: '', verdict: '' }
}

/** What the figures were taken on; no names. */
export function machineFacts(): Record<string, string | number> {
  const [cpu] = cpus()
  return {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 1e9),
    kernel: release(),
    bun: Bun.version,
  }
}

/** Rows for every ratio that is much worse than the recorded one; a smaller ratio is better. */
export function regressions(ratios: Report['ratios'], baselineFile: string): Row[] {
  if (!existsSync(baselineFile))
    return [notRun('regression', 'there is no recorded baseline; record one with --record')]
  const recorded = JSON.parse(readFileSync(baselineFile, 'utf8')) as { ratios: Record<string, number> }
  const rows: Row[] = []
  for (const [name, ratio] of Object.entries(ratios)) {
    const before = recorded.ratios[name]
    if (before === undefined) continue
    rows.push(
      atMost(`regression: ${name}`, `${ratio.toFixed(2)}× (recorded ${before.toFixed(2)}×)`, {
        value: ratio,
        limit: round(before * regressionFactor),
        unit: '×',
      }),
    )
  }
  const worse = rows.filter(({ verdict }) => verdict === 'MISSED')
  return worse.length > 0 || rows.length === 0
    ? worse
    : [
        {
          case: 'regression',
          figure: `${rows.length} ratios within ${regressionFactor}× of the recorded ones`,
          budget: '',
          verdict: 'PASS',
        },
      ]
}

/** Records the ratios as what later runs are compared with. */
export function recordBaseline(ratios: Report['ratios'], file: string): void {
  const known = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { ratios: Report['ratios'] }).ratios
    : {}
  const rounded = Object.entries({ ...known, ...ratios }).map(
    ([name, ratio]) => [name, round(ratio)] as const,
  )
  const sorted = Object.fromEntries(rounded.toSorted(([left], [right]) => (left < right ? -1 : 1)))
  writeFileSync(file, `${JSON.stringify({ machine: machineFacts(), ratios: sorted }, null, 2)}\n`)
}

/** The table for people. */
export function tableOf(rows: readonly Row[]): string {
  const head: Row = { case: 'case', figure: 'figure', budget: 'budget', verdict: '' }
  const widths = (['case', 'figure', 'budget'] as const).map((column) =>
    Math.max(...[head, ...rows].map((row) => [...row[column]].length)),
  )
  const line = (row: Row) =>
    [row.case, row.figure, row.budget]
      .map((text, index) => text + ' '.repeat((widths[index] ?? 0) - [...text].length))
      .join('  ')
  return [line(head), ...rows.map((row) => `${line(row)}  ${row.verdict}`)].join('\n')
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
