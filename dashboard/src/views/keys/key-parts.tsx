import type { Key } from '../../api/keys.ts'
import { State } from '../../parts/state.tsx'
import { Credits, Money } from '../../parts/values.tsx'
import { parseCredits } from '../../values/money.ts'
import { toDate } from '../../values/time.ts'

export const resetWords: Readonly<Record<string, string>> = {
  daily: 'a day, from midnight UTC',
  weekly: 'a week, from Monday UTC',
  monthly: 'a month, from the first UTC',
}

export function KeyState({ item }: { item: Key }) {
  if (item.disabled) return <State kind="ended">Disabled</State>
  if (item.expires_at !== null && toDate(item.expires_at) <= new Date())
    return <State kind="ended">Expired</State>
  if (isNearLimit(item)) return <State kind="warn">Near its limit</State>
  if (shareSpent(item) === 1) return <State kind="bad">Limit reached</State>
  return <State kind="ok">Active</State>
}

/** Whether nine tenths of the limit are spent, and not all of it. */
export function isNearLimit(item: Key): boolean {
  const spent = shareSpent(item)
  return spent !== null && spent >= 0.9 && spent < 1
}

/** How much of the limit is used, 0 to 1; null without one. Only for drawing. */
function shareSpent({ limit, limit_remaining: remaining }: Key): number | null {
  if (limit === null || remaining === null) return null
  return limit === 0 ? 1 : Math.min(1, Math.max(0, 1 - remaining / limit))
}

/** The limit as a bar and in words: `$0.75 of $5.00 a month`. */
export function LimitBar({ item }: { item: Key }) {
  const share = shareSpent(item)
  if (share === null) return <span className="muted">no limit</span>
  const limit = parseCredits(item.limit) ?? 0n
  const used = limit - (parseCredits(item.limit_remaining) ?? 0n)
  return (
    <div className="limit">
      <div className="bar" aria-hidden="true">
        <i className={barKind(share)} style={{ width: `${share * 100}%` }} />
      </div>
      <span className="small muted">
        <Money amount={used} /> of <Credits value={item.limit} />{' '}
        {item.limit_reset === null ? 'in all' : (resetWords[item.limit_reset]?.split(',')[0] ?? '')}
      </span>
    </div>
  )
}

function barKind(share: number): string {
  if (share >= 1) return 'bad'
  return share >= 0.9 ? 'warn' : ''
}
