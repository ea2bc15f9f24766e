import { readFileSync, writeFileSync } from 'node:fs'
import { hasChanges, shortCommit } from '../harness/checkout.ts'
import { machineFacts } from '../harness/report.ts'
import { sharedDelayMs } from '../harness/writes.ts'
import { peerKinds } from '../peers/kinds.ts'
import { inDigits, type Judged } from './budgets.ts'
import { names } from './field.ts'
import { writeColumns } from './footprint.ts'
import type { Comparison } from './comparison.ts'
import { columns, type Column, type Sheet } from './sheet.ts'
import { clients, stalledColumn } from './stalled.ts'
import { ways } from './ways.ts'

const [begin, end] = ['<!-- measured: figures -->', '<!-- end: figures -->']

/** What a comparison found as Markdown: the programs, what this version costs besides, budgets, what was not run. */
export function sectionOf(comparison: Comparison, judged: readonly Judged[]): string {
  return [
    provenanceOf(comparison),
    programsTable(comparison),
    '### What was not measured',
    missingList(comparison.sheet),
    '### Headrace by itself',
    ownTable(comparison.sheet),
    '### Budgets',
    budgetTable(judged),
  ].join('\n\n')
}

/** Puts a section between the marks of a page. Throws when the marks are missing. */
export function writeSection(file: string, section: string): void {
  const page = readFileSync(file, 'utf8')
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${file} has no part marked ${begin} … ${end}`)
  writeFileSync(file, `${page.slice(0, from + begin.length)}\n\n${section}\n\n${page.slice(to)}`)
}

function provenanceOf({ beforeCommit, seconds, loadBefore }: Comparison): string {
  const { cpu, cores, memory_gb: memory, kernel, bun } = machineFacts()
  const day = new Date().toISOString().slice(0, 10)
  const commit = `${shortCommit('HEAD') ?? 'unknown'}${hasChanges() ? ' with changes' : ''}`
  return `Taken on ${day} at ${commit}, in one run of ${Math.round(seconds / 60)} minutes: ${cores} cores of ${cpu}, ${memory} GB, Linux ${kernel}, Bun ${bun}; a load of ${loadBefore.toFixed(1)} by other programs before. "${names.before}" is ${beforeCommit.slice(0, 8)}.`
}

function programsTable({ sheet }: Comparison): string {
  const shown = Object.keys(columns) as Column[]
  const head = ['', ...shown.map((column) => `${columns[column].title}, ${columns[column].unit}`)]
  const programs = [names.nginx, names.floor, names.own, names.before, ...peerKinds.map(({ name }) => name)]
  const rows = programs.map((program) => {
    const version = peerKinds.find(({ name }) => name === program)?.version
    const title = version === undefined ? program : `${program} ${version}`
    const cells = shown.map((column) => inDigits(sheet.valueOf(column, program)))
    return [program === names.own ? `**${title}**` : title, ...cells]
  })
  return tableOf(head, rows)
}

function missingList(sheet: Sheet): string {
  const programs = [names.before, ...peerKinds.map(({ name }) => name)]
  const lines = programs.flatMap((program) => {
    const missing = (Object.keys(columns) as Column[]).filter(
      (column) => sheet.valueOf(column, program) === null,
    )
    const reasons = new Set(missing.map((column) => sheet.reasonOf(column, program)))
    return [...reasons].map((reason) => {
      const of = missing.filter((column) => sheet.reasonOf(column, program) === reason)
      return `- ${program}, ${of.map((column) => columns[column].title).join(', ')}: NOT RUN, ${reason}`
    })
  })
  return lines.length === 0 ? 'Nothing.' : lines.join('\n')
}

function ownTable(sheet: Sheet): string {
  const value = (column: string, program: string = names.own) => inDigits(sheet.valueOf(column, program))
  const both = (column: string) => `${value(column)} (before: ${value(column, names.before)})`
  const translated = (column: string) => ways.map((way) => `${way} ${value(column, way)}`).join(', ')
  const { alone, shared } = writeColumns
  return tableOf(
    ['What', 'Figure'],
    [
      ['JSON, µs', translated('translated JSON')],
      ['SSE in one piece, µs', translated('translated stream')],
      ["a batch's item, µs", `${value('item')} (a live call: ${value('call')})`],
      [
        'a call at 200/s, each in a commit of its own',
        `${value(alone.bytes)} kB in ${value(alone.writes)} pwrite (durable floor: ${value(alone.bytes, names.floor)} kB in ${value(alone.writes, names.floor)})`,
      ],
      [
        `the same with \`commit_delay_ms\` ${sharedDelayMs}`,
        `${value(shared.bytes)} kB in ${value(shared.writes)} pwrite`,
      ],
      ['private pages after load, MB', both('private after load')],
      ['of them anonymous, MB', both('anonymous after load')],
      ['private pages idle, MB', both('private idle')],
      ['of them anonymous, MB', both('anonymous idle')],
      [
        'kept for stalled readers, MB',
        `socket client ${value(stalledColumn, clients.socket)}, fetch ${value(stalledColumn, clients.fetch)}`,
      ],
    ],
  )
}

function budgetTable(judged: readonly Judged[]): string {
  const rows = judged.map(({ what, figure, budget, stretch, verdict }) => [
    what,
    figure,
    budget,
    stretch,
    verdict,
  ])
  return tableOf(['What', 'Found', 'Budget', 'Beyond it', ''], rows)
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
