import type { DestinationState } from '../../delivery/broadcasts/broadcast-repository.ts'
import { counted, duration } from '../amounts.ts'
import type { CliConfig } from '../context.ts'
import type { Finding } from './finding.ts'

const subject = 'broadcasts'
/** How long something may wait for a destination that refuses nothing, before nobody seems to tell it. */
const untoldMsMax = 120_000

/** How each destination of broadcasts fares; nothing where none is configured and nothing is left of former ones. */
export function* broadcastFindings(
  states: readonly DestinationState[],
  { broadcasts = [] }: Pick<CliConfig, 'broadcasts'>,
  nowMs: number,
): Generator<Finding> {
  const configured = new Set(broadcasts.map(({ name }) => name))
  for (const name of configured) {
    const state = states.find(({ destination }) => destination === name)
    if (state === undefined)
      yield { level: 'ok', subject, message: `${name}: nothing was told yet`, next: null }
    else yield findingOf(state, nowMs)
  }
  for (const { destination, waiting, kept } of states) {
    if (configured.has(destination) || waiting + kept === 0) continue
    const message = `${destination}: ${counted(waiting + kept, 'generation')} left of a destination that is not configured`
    yield {
      level: 'warning',
      subject,
      message,
      next: 'configure it again, or wait: they go after seven days',
    }
  }
}

function findingOf(state: DestinationState, nowMs: number): Finding {
  const { destination, waiting, kept, failingSinceMs, problem, sent, oldestAtMs, dropped } = state
  const lost = dropped > 0 ? `, ${dropped} dropped` : ''
  if (failingSinceMs !== null) {
    const since = duration(Math.max(0, nowMs - failingSinceMs))
    const message = `${destination}: ${problem ?? 'takes nothing'} for ${since}; ${waiting} wait, ${kept} given up${lost}`
    return {
      level: 'problem',
      subject,
      message,
      next: 'its url, headers and secret in the configuration; its own log',
    }
  }
  if (oldestAtMs !== null && nowMs - oldestAtMs > untoldMsMax) {
    const message = `${destination}: ${waiting} wait, the first for ${duration(nowMs - oldestAtMs)}`
    return {
      level: 'warning',
      subject,
      message,
      next: 'does a gateway run with this configuration? npx headrace serve',
    }
  }
  if (kept > 0) {
    const message = `${destination}: ${counted(kept, 'generation')} given up${lost}`
    const next = `npx headrace broadcasts redeliver ${destination}`
    return { level: 'warning', subject, message, next }
  }
  return { level: 'ok', subject, message: `${destination}: ${sent} told, ${waiting} wait${lost}`, next: null }
}
