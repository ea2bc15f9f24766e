import { listOrEmpty, numberOrZero, recordOrEmpty, textOrEmpty } from '../../json/values.ts'
import { timestamp } from '../amounts.ts'
import { printable } from '../paint.ts'

/** The events of a batch from the API: a line for each, and one for each of its last tries. */
export function describeDeliveries(list: Record<string, unknown>): string[] {
  return listOrEmpty(list['data'])
    .map(recordOrEmpty)
    .flatMap((delivery) => [
      `${textOrEmpty(delivery['event'])}: ${textOrEmpty(delivery['state'])}${nextOf(delivery['next_try_at'])}`,
      ...listOrEmpty(delivery['log']).map(recordOrEmpty).map(describeTry),
    ])
}

function nextOf(at: unknown): string {
  return typeof at === 'number' ? `, next try ${timestamp(at * 1_000)} UTC` : ''
}

function describeTry(one: Record<string, unknown>): string {
  const problem = printable(textOrEmpty(one['problem']))
  const outcome = problem === '' ? `taken (${numberOrZero(one['status'])})` : problem
  return `  try ${numberOrZero(one['try'])}, ${timestamp(numberOrZero(one['at']) * 1_000)} UTC, ${numberOrZero(one['duration_ms'])} ms: ${outcome}`
}
