import { startOfDay } from './time.ts'

export type RangeName = '24h' | '7d' | '30d'

export const rangeChoices: readonly { value: RangeName; label: string }[] = [
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
]

const hourMs = 3_600_000

/** A span up to now that begins at a whole hour, or at a whole day of the zone. */
export function rangeOf(
  name: RangeName,
  zone: string,
  now: Date,
): { from: Date; to: Date; bucket: 'hour' | 'day' } {
  if (name === '24h') {
    const hour = new Date(Math.floor(now.getTime() / hourMs) * hourMs)
    return { from: new Date(hour.getTime() - 23 * hourMs), to: now, bucket: 'hour' }
  }
  const days = name === '7d' ? 7 : 30
  return { from: startOfDay(now, zone, days - 1), to: now, bucket: 'day' }
}

export function isRangeName(value: string | undefined): value is RangeName {
  return rangeChoices.some((choice) => choice.value === value)
}
