import type { Comparison } from './comparison.ts'
import { names } from './field.ts'
import { writeColumns } from './footprint.ts'
import { clients, stalledColumn } from './stalled.ts'
import type { Sheet } from './sheet.ts'
import { ways } from './ways.ts'

/** A figure that is held against a budget. */
export interface Judged {
  what: string
  figure: string
  budget: string
  /** What is aimed at beyond the budget; empty where there is nothing. */
  stretch: string
  verdict: 'PASS' | 'FAIL' | 'NOT RUN'
}

/** The most that a ratio to another program may be. */
interface RatioBudget {
  what: string
  column: string
  program?: string
  of: string
  limit: number
  stretch?: { limit: number; of?: string }
}

/** The most that a figure may be. */
interface ValueBudget {
  what: string
  column: string
  program?: string
  limit: number
  unit: string
  stretch?: number
}

const { own, floor, before } = names
const [passed, ...translations] = ways

/** A call of a batch may cost this of a live one. */
const itemMax = 1.5
/** What is left of the memory and of the calls' cost of the earlier version. */
const memoryOfBefore = 0.75
const callsOfBefore = 0.67

const ratioBudgets: readonly RatioBudget[] = [
  {
    what: 'JSON 1 kB',
    column: 'json',
    of: floor,
    limit: 1.6,
    stretch: { limit: 1, of: 'bifrost-core' },
  },
  { what: 'JSON 1 kB', column: 'json', of: before, limit: callsOfBefore },
  { what: 'SSE in one piece', column: 'stream', of: floor, limit: 1.7, stretch: { limit: 1.3 } },
  { what: 'SSE in one piece', column: 'stream', of: 'smg', limit: 1 },
  { what: 'SSE in one piece', column: 'stream', of: before, limit: callsOfBefore },
  { what: 'SSE 50 × 20 ms', column: 'paced', of: floor, limit: 1.4 },
  { what: 'SSE 50 × 20 ms', column: 'paced', of: 'smg', limit: 1 },
  ...['translated JSON', 'translated stream'].flatMap((column) =>
    translations.map((program) => ({
      what: `${column}, ${program}`,
      column,
      program,
      of: passed,
      limit: 1.8,
      stretch: { limit: 1.4 },
    })),
  ),
  { what: 'embeddings 1536', column: 'embeddings', of: floor, limit: 1.5 },
  { what: 'JSON 100 kB', column: 'body', of: floor, limit: 1.5 },
  ...['after load', 'idle'].map((when) => ({
    what: `private pages ${when}`,
    column: `private ${when}`,
    of: before,
    limit: memoryOfBefore,
  })),
]

const valueBudgets: readonly ValueBudget[] = [
  { what: 'added p50 at 500/s', column: 'addedP50', limit: 0.5, unit: 'ms', stretch: 0.35 },
  { what: 'added p99 at 500/s', column: 'addedP99', limit: 3, unit: 'ms', stretch: 2 },
  {
    what: 'written a call at 200/s, delay of 20 ms',
    column: writeColumns.shared.bytes,
    limit: 6,
    unit: 'kB',
  },
  { what: 'pwrite a call at 200/s, delay of 20 ms', column: writeColumns.shared.writes, limit: 4, unit: '' },
  {
    what: 'kept for stalled readers, socket client',
    column: stalledColumn,
    program: clients.socket,
    limit: 300,
    unit: 'MB',
  },
]

/** Every budget of the comparison with what was found, then what must be true whatever the figures are. */
export function judge({ sheet, checks }: Comparison): Judged[] {
  return [
    ...ratioBudgets.map((budget) => judgeRatio(sheet, budget)),
    ...valueBudgets.map((budget) => judgeValue(sheet, budget)),
    judgeItem(sheet),
    ...checks.map(({ what, figure, isGood }): Judged => ({
      what,
      figure,
      budget: '',
      stretch: '',
      verdict: isGood ? 'PASS' : 'FAIL',
    })),
  ]
}

function judgeRatio(sheet: Sheet, budget: RatioBudget): Judged {
  const { what, column, program = own, of, limit, stretch } = budget
  const ratio = sheet.ratioOf(column, program, of)
  const shown = { what, budget: limit === 1 ? `below ${of}` : `≤ ${limit} × ${of}` }
  if (ratio === null) {
    const missing = sheet.valueOf(column, program) === null ? program : of
    return {
      ...shown,
      figure: `${missing}: ${sheet.reasonOf(column, missing)}`,
      stretch: '',
      verdict: 'NOT RUN',
    }
  }
  return {
    ...shown,
    figure: `${ratio.toFixed(2)} × (${inDigits(sheet.valueOf(column, program))} of ${inDigits(sheet.valueOf(column, of))})`,
    stretch: stretch === undefined ? '' : stretchOf(sheet, { column, program, of, ...stretch }),
    verdict: ratio <= limit ? 'PASS' : 'FAIL',
  }
}

function stretchOf(
  sheet: Sheet,
  { column, program, of, limit }: { column: string; program: string; of: string; limit: number },
): string {
  const ratio = sheet.ratioOf(column, program, of)
  const wanted = `≤ ${limit} × ${of}`
  if (ratio === null) return `${wanted}: not run`
  return `${wanted}: ${ratio <= limit ? 'reached' : `${ratio.toFixed(2)} ×`}`
}

function judgeValue(
  sheet: Sheet,
  { what, column, program = own, limit, unit, stretch }: ValueBudget,
): Judged {
  const value = sheet.valueOf(column, program)
  const shown = { what, budget: `≤ ${limit} ${unit}`.trim() }
  if (value === null)
    return { ...shown, figure: sheet.reasonOf(column, program), stretch: '', verdict: 'NOT RUN' }
  return {
    ...shown,
    figure: `${inDigits(value)} ${unit}`.trim(),
    stretch:
      stretch === undefined ? '' : `≤ ${stretch} ${unit}: ${value <= stretch ? 'reached' : 'not reached'}`,
    verdict: value <= limit ? 'PASS' : 'FAIL',
  }
}

function judgeItem(sheet: Sheet): Judged {
  const [item, call] = [sheet.valueOf('item', own), sheet.valueOf('call', own)]
  const shown = { what: "a batch item's cost", budget: `≤ ${itemMax} × a live call's`, stretch: '' }
  if (item === null || call === null) return { ...shown, figure: 'it was not measured', verdict: 'NOT RUN' }
  const ratio = item / call
  return {
    ...shown,
    figure: `${ratio.toFixed(2)} × (${inDigits(item)} of ${inDigits(call)} µs)`,
    verdict: ratio <= itemMax ? 'PASS' : 'FAIL',
  }
}

/** As many digits as are worth something. */
export function inDigits(value: number | null): string {
  if (value === null) return '–'
  if (value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 2)
}
