import { createContext, use } from 'react'
import { exactCredits, formatMoney, parseCredits, parseNanocredits } from '../values/money.ts'
import { browserZone, formatMoment, momentTitle, toDate, zoneName, type Moment } from '../values/time.ts'

/** Money: rounded for reading, exact on hover. */
export function Money({ amount }: { amount: bigint | null }) {
  if (amount === null) return <span className="muted">–</span>
  return <span title={`${exactCredits(amount)} credits`}>{formatMoney(amount)}</span>
}

/** An amount that the API gives as a number of credits. */
export function Credits({ value }: { value: number | string | null | undefined }) {
  return <Money amount={parseCredits(value)} />
}

/** An amount that the API gives as a string of nanocredits. */
export function Nanocredits({ value }: { value: string | null | undefined }) {
  return <Money amount={parseNanocredits(value)} />
}

/** The zone that every time of the console is shown in. */
export const ZoneContext = createContext(browserZone())

export function useZone(): string {
  return use(ZoneContext)
}

/** A time in the zone of the console; UTC and the age on hover. */
export function Time({ at }: { at: Moment | null | undefined }) {
  const zone = useZone()
  if (at === null || at === undefined) return <span className="muted">–</span>
  return (
    <time dateTime={toDate(at).toISOString()} title={momentTitle(at)}>
      {formatMoment(at, zone)}
    </time>
  )
}

/** For the header of a column with times: `Time, GMT+1`. */
export function TimeHeader({ word = 'Time' }: { word?: string }) {
  const zone = useZone()
  return (
    <span title={zone}>
      {word}, {zoneName(zone)}
    </span>
  )
}
