import { listOrEmpty, numberOrZero, recordOrEmpty, textOrEmpty } from '../../json/values.ts'
import { timestamp } from '../amounts.ts'

/** Why items of a batch wait, as commands show it. */
export interface WaitingLine {
  type: string
  message: string
  /** 0 when only the batch as a whole is known to wait. */
  items: number
  sinceMs: number
  nextTryMs: number
}

/** The causes in a batch object from the API; empty when nothing waits. */
export function readWaiting(batch: Record<string, unknown>): WaitingLine[] {
  const waiting = recordOrEmpty(recordOrEmpty(batch['headrace_metadata'])['waiting'])
  const causes = listOrEmpty(waiting['causes']).map(recordOrEmpty)
  const found = causes.length > 0 ? causes : [waiting]
  return found
    .map((cause) => ({
      type: textOrEmpty(cause['type']),
      message: textOrEmpty(cause['message']),
      items: numberOrZero(cause['items']),
      sinceMs: numberOrZero(cause['since']) * 1_000,
      nextTryMs: numberOrZero(cause['next_try_at']) * 1_000,
    }))
    .filter(({ message }) => message !== '')
}

/** `3 items wait for provider_failed since 2026-11-20 17:03:59, tried next at 2026-11-20 17:04:09 (UTC): …` */
export function describeWaiting({ type, message, items, sinceMs, nextTryMs }: WaitingLine): string {
  if (items === 0) return message
  const who = items === 1 ? '1 item waits' : `${items} items wait`
  return `${who} for ${type} since ${timestamp(sinceMs)}, tried next at ${timestamp(nextTryMs)} (UTC): ${message}`
}

/** A short form for the end of a progress line; empty when no item waits. */
export function summariseWaiting(waiting: readonly WaitingLine[]): string {
  const items = waiting.reduce((sum, line) => sum + line.items, 0)
  if (items === 0) return ''
  const nextTryMs = Math.min(...waiting.map((line) => line.nextTryMs))
  return `, ${items} waiting, next try ${timestamp(nextTryMs).slice(11)}`
}
