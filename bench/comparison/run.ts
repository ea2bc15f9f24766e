import { mkdirSync, rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { bodyCalls, embeddingCalls, jsonCalls, pacedCalls, streamCalls } from './calls.ts'
import type { Comparison, ComparisonScale, Run } from './comparison.ts'
import { installPeers, startField } from './field.ts'
import { memory, writes } from './footprint.ts'
import { Sheet } from './sheet.ts'
import { stalledReaders } from './stalled.ts'
import { translatedCalls } from './ways.ts'

/** Everything, in less than twenty minutes. */
export const wholeComparison: ComparisonScale = {
  rounds: 5,
  fewRounds: 3,
  seconds: 2,
  warmSeconds: 4,
  pacedSeconds: 4,
  steadySeconds: 2,
  memorySeconds: 6,
  stalledReaders: 1000,
  stalledSeconds: 20,
  msMax: 1_080_000,
}

/** A look at whether everything runs, in a few minutes; its figures are worth nothing. */
export const quickComparison: ComparisonScale = {
  rounds: 2,
  fewRounds: 1,
  seconds: 1,
  warmSeconds: 1,
  pacedSeconds: 2,
  steadySeconds: 1,
  memorySeconds: 1,
  stalledReaders: 100,
  stalledSeconds: 3,
  msMax: 600_000,
}

/** What is measured, by name, in its order. */
export const parts: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  json: jsonCalls,
  stream: streamCalls,
  paced: pacedCalls,
  translated: translatedCalls,
  writes,
  memory,
  stalled: stalledReaders,
  body: bodyCalls,
  embeddings: embeddingCalls,
}

/** Measures this version beside the floor, other gateways and an earlier version, in one run. Works below `output`. */
export async function compareAll(options: {
  output: string
  beforeCommit: string
  scale: ComparisonScale
  /** Names of the parts; all when left out. */
  only?: readonly string[]
}): Promise<Comparison> {
  const { output, beforeCommit, scale, only = Object.keys(parts) } = options
  const notInstalled = await installPeers()
  const loadBefore = loadavg()[0] ?? 0
  // Installing is not part of the time that a run may take.
  const startedMs = performance.now()
  rmSync(join(output, 'work'), { recursive: true, force: true })
  mkdirSync(join(output, 'work'), { recursive: true })
  const field = await startField(output, beforeCommit, notInstalled)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void field.stop().finally(() => process.exit(130)))
  const run: Run = { field, sheet: new Sheet(), scale, beforeCommit, checks: [] }
  try {
    for (const name of only) {
      const spentMs = performance.now() - startedMs
      if (spentMs > scale.msMax) {
        const figure = `not begun, ${Math.round(spentMs / 1000)} s had passed`
        run.checks.push({ what: `the part "${name}" is measured`, figure, isGood: false })
      } else await measurePart(name, run)
    }
  } finally {
    await field.stop()
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  return { sheet: run.sheet, checks: run.checks, beforeCommit, seconds, loadBefore }
}

/** A part that throws is a check that failed; the others still run. */
async function measurePart(name: string, run: Run): Promise<void> {
  const startedMs = performance.now()
  try {
    await parts[name]?.(run)
  } catch (error) {
    const figure = error instanceof Error ? error.message : String(error)
    run.checks.push({ what: `the part "${name}" is measured`, figure, isGood: false })
  }
  console.error(`… ${name}: ${Math.round((performance.now() - startedMs) / 1000)} s`)
}
