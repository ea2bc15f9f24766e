/** Times as the console shows them: in one zone that is named, with UTC and the age beside. */

/** A moment of the API: ISO 8601, or Unix seconds. */
export type Moment = string | number

export function toDate(moment: Moment): Date {
  return new Date(typeof moment === 'number' ? moment * 1000 : moment)
}

/** `14:03:09`, with the day where it is not the day of `now`: `23 Nov 14:03`. */
export function formatMoment(moment: Moment, zone: string, now = new Date()): string {
  const date = toDate(moment)
  const day = dayIn(date, zone)
  if (day === dayIn(now, zone))
    return part(date, zone, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const isSameYear = day.slice(0, 4) === dayIn(now, zone).slice(0, 4)
  const shown = part(date, zone, {
    day: 'numeric',
    month: 'short',
    ...(isSameYear ? {} : { year: 'numeric' }),
  })
  return `${shown} ${part(date, zone, { hour: '2-digit', minute: '2-digit' })}`
}

/** What hovering says: `2026-11-24 14:03:09.123 UTC, 3 min ago`. */
export function momentTitle(moment: Moment, now = new Date()): string {
  const date = toDate(moment)
  return `${date.toISOString().replace('T', ' ').replace('Z', ' UTC')}, ${formatAge(date, now)}`
}

/** `5 s ago`, `3 min ago`, `2 h ago`, `4 d ago`, or `in …`. */
export function formatAge(date: Date, now = new Date()): string {
  const seconds = Math.round((now.getTime() - date.getTime()) / 1000)
  const length = formatSpan(Math.abs(seconds))
  if (Math.abs(seconds) < 1) return 'now'
  return seconds < 0 ? `in ${length}` : `${length} ago`
}

/** The largest unit that fits: `45 s`, `12 min`, `5 h`, `9 d`. */
export function formatSpan(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** A measured time: `62 ms`, `1.38 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1).replace('.0', '') : Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** A position in a recording: `1:05.3`. */
export function formatPosition(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  return `${minutes}:${(seconds - minutes * 60).toFixed(1).padStart(4, '0')}`
}

/** How the header of a column names the zone: `GMT+1`, `UTC`. */
export function zoneName(zone: string, at = new Date()): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'short' }).formatToParts(at)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone
}

/** The first moment of the day of `at` in the zone, `daysBefore` days earlier. */
export function startOfDay(at: Date, zone: string, daysBefore = 0): Date {
  const [year = 0, month = 1, day = 1] = dayIn(at, zone).split('-').map(Number)
  const guess = Date.UTC(year, month - 1, day - daysBefore)
  // The offset at the guess may differ from that at the answer where the clock is put forward that night.
  const first = guess - offsetMs(new Date(guess), zone)
  return new Date(guess - offsetMs(new Date(first), zone))
}

/** When a limit that begins again each day, week or month does so next; in UTC, as limits do. */
export function nextReset(reset: string, now: Date): Date {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  if (reset === 'monthly') return new Date(Date.UTC(year, month + 1, 1))
  // A Sunday is day 0, and the next Monday is one day later.
  const days = reset === 'weekly' ? (8 - now.getUTCDay()) % 7 || 7 : 1
  return new Date(Date.UTC(year, month, day + days))
}

/** `2026-11-24` in the zone. */
export function dayIn(date: Date, zone: string): string {
  return part(date, zone, { year: 'numeric', month: '2-digit', day: '2-digit' }, 'sv-SE')
}

function offsetMs(date: Date, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(date)
  const of = (name: string) => Number(parts.find(({ type }) => type === name)?.value)
  const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return local - Math.floor(date.getTime() / 1000) * 1000
}

function part(date: Date, zone: string, options: Intl.DateTimeFormatOptions, locale = 'en-GB'): string {
  return new Intl.DateTimeFormat(locale, { timeZone: zone, hourCycle: 'h23', ...options }).format(date)
}

/** The zone of the browser. */
export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}
