import { listOrEmpty, numberOrZero, recordOrEmpty, textOrEmpty } from '../../json/values.ts'
import { dollarsOf } from '../amounts.ts'

/** What each lane would cost, of an estimate from the API, its own lane first; empty when there is only one. */
export function describeLanes(estimate: Record<string, unknown>): string[] {
  const lanes = listOrEmpty(estimate['lanes']).map(recordOrEmpty)
  if (lanes.length < 2) return []
  return lanes.map((lane, index) => {
    const name = textOrEmpty(lane['lane'])
    const own = index === 0 ? ' (where its items start)' : ''
    return `  in lane ${name}${own} ${dollarsOf(lane['estimate'])}, ${dollarsOf(lane['worst_case'])} at most`
  })
}

/** How many items of a batch from the API ended in another lane, and why, a line for each reason. */
export function describeMoves(batch: Record<string, unknown>): string[] {
  const moves = listOrEmpty(recordOrEmpty(batch['headrace_metadata'])['moved']).map(recordOrEmpty)
  return moves.map((move) => {
    const items = numberOrZero(move['items'])
    const who = items === 1 ? '1 item' : `${items} items`
    return `${who} went from lane ${textOrEmpty(move['from'])} to ${textOrEmpty(move['to'])}: ${textOrEmpty(move['reason'])}`
  })
}
