import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** How long each test file took, in the form that `bun test --timings` reads and writes. */
interface Timings {
  version: 1
  files: Record<string, number>
}

/** Files below this are not worth a line: their order changes nothing. */
const keptMs = 1_000
/** One decimal of a second; more would change with every run. */
const keptStepMs = 100
const slowestMax = 10

function readTimings(path: string): Timings {
  if (!existsSync(path)) return { version: 1, files: {} }
  return JSON.parse(readFileSync(path, 'utf8')) as Timings
}

/** The slowest of these files with their seconds, for the reader; null where none is known. */
export function slowestLine(path: string, files: readonly string[]): string | null {
  const chosen = new Set(files.map((file) => file.replace(/^\.\//, '')))
  const slowest = Object.entries(readTimings(path).files)
    .filter(([file]) => chosen.has(file))
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, slowestMax)
    .map(([file, ms]) => `${file} ${(ms / 1000).toFixed(1)} s`)
  return slowest.length === 0 ? null : `slowest files: ${slowest.join(', ')}`
}

/** Keeps what was measured for later runs, without what is quick and without files that are gone. */
export function keepTimings(measured: string, kept: string): void {
  const files = Object.entries(readTimings(measured).files)
    .filter(([file, ms]) => ms >= keptMs && existsSync(file))
    .map(([file, ms]) => [file, Math.round(ms / keptStepMs) * keptStepMs] as const)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
  const timings: Timings = { version: 1, files: Object.fromEntries(files) }
  writeFileSync(kept, `${JSON.stringify(timings, null, 2)}\n`)
}
