import type { Field } from './field.ts'
import type { Sheet } from './sheet.ts'

/** How much of everything a comparison does. */
export interface ComparisonScale {
  /** Of the main figures. */
  rounds: number
  /** Of the others. */
  fewRounds: number
  /** Of a round, and before the first; whole seconds, because the load program takes no parts of one. */
  seconds: number
  warmSeconds: number
  pacedSeconds: number
  steadySeconds: number
  memorySeconds: number
  stalledReaders: number
  stalledSeconds: number
  /** After so long nothing more is begun; what is left out says so. */
  msMax: number
}

/** Something that must be true whatever the figures are, or a part that could not be measured. */
export interface Check {
  what: string
  figure: string
  isGood: boolean
}

/** A comparison under way. */
export interface Run {
  field: Field
  sheet: Sheet
  scale: ComparisonScale
  /** The commit that this version is held against. */
  beforeCommit: string
  checks: Check[]
}

/** What a comparison found. */
export interface Comparison {
  sheet: Sheet
  checks: readonly Check[]
  beforeCommit: string
  seconds: number
  /** Programs that already wanted a core before the run, the mean of a minute. */
  loadBefore: number
}
