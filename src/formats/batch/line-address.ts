import type { BatchEndpoint } from '../../canonical/batch.ts'
import { fieldError } from '../../core/errors.ts'
import { findMember } from '../../json/scan.ts'
import type { WalkedItem } from './item-walk.ts'
import { isJson } from './result-line.ts'

/** Checks where a line of a file says that it is to be sent: to the endpoint of its batch. Throws `invalid_request`. */
export function checkLineAddress(
  line: Buffer,
  walked: WalkedItem | null,
  endpoint: BatchEndpoint | null,
): void {
  const valueOf = (name: 'method' | 'url'): unknown => {
    const place = walked?.[name]
    const value = place ? line.subarray(place.start, place.end) : findMember(line, name).value
    return value === null ? undefined : (JSON.parse(value.toString('utf8')) as unknown)
  }
  // What is no object is told by the checks of the item.
  if (walked === null && !(line[0] === openBrace && isJson(line))) return
  if (valueOf('method') !== 'POST') throw fieldError('method', 'must be "POST".')
  if (valueOf('url') !== endpoint)
    throw fieldError('url', `must be "${endpoint}", the endpoint of the batch.`)
}

const openBrace = 0x7b
