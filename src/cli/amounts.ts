import { formatCredits } from '../core/money.ts'

/** Nanocredits as dollars for people, exact: `$0.000015`. */
export function dollars(amount: bigint): string {
  const text = formatCredits(amount)
  return text.startsWith('-') ? `-$${text.slice(1)}` : `$${text}`
}

/** A number of credits from an API body as dollars, to the nanocredit; a dash for any other value. */
export function dollarsOf(credits: unknown): string {
  if (typeof credits !== 'number' || !Number.isFinite(credits)) return '-'
  return dollars(BigInt(Math.round(credits * 1e9)))
}

/** A duration for people: `12 ms`, `3.4 s`, `2 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}

/** The milliseconds of a duration as users type it: `45m`, `24h`, `7d`, `2w`, or `0`; null for any other text. */
export function durationOf(text: string): number | null {
  if (text === '0') return 0
  const match = /^([1-9]\d{0,5})([mhdw])$/.exec(text)
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }[match?.[2] ?? '']
  return match && unit !== undefined ? Number(match[1]) * unit : null
}

/** Bytes for people, in decimal units. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`
}

/** Unix milliseconds as `2026-11-20 17:03:59` in UTC. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

/** A number with its noun: `1 key`, `312 keys`. */
export function counted(many: number, word: string, plural = `${word}s`): string {
  return `${many} ${many === 1 ? word : plural}`
}
