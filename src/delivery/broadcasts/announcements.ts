import { createHash } from 'node:crypto'
import { insertBroadcasts } from './broadcast-repository.ts'
import type { Destination } from './destination.ts'
import { type CapturedCall, toGeneration } from './generation.ts'

/** The statement that captured calls add to their own unit; null when no destination wants one of them. */
export type AnnounceGenerations = (
  calls: readonly CapturedCall[],
) => ReturnType<typeof insertBroadcasts> | null

/** Null when there are no destinations, so that a capture without them asks nothing. */
export function createAnnounce(destinations: readonly Destination[]): AnnounceGenerations | null {
  if (destinations.length === 0) return null
  return (calls) => {
    const rows: (readonly [destination: string, generationId: string, payload: string])[] = []
    for (const call of calls) {
      let payload: string | null = null
      for (const destination of destinations) {
        if (!isWanted(destination, call)) continue
        payload ??= JSON.stringify(toGeneration(call))
        rows.push([destination.name, call.generationId, payload])
      }
    }
    return rows.length === 0 ? null : insertBroadcasts(rows)
  }
}

/** Whether a destination gets this call. Decided by the call alone, so that every process decides the same. */
export function isWanted(
  { organizations, keys, sampling, zdrCalls }: Destination,
  { organizationId, keyId, sessionId, generationId, asked }: CapturedCall,
): boolean {
  if (organizations !== null && !organizations.includes(organizationId)) return false
  if (keys !== null && !keys.includes(keyId)) return false
  if (zdrCalls === 'skip' && asked?.isZdr === true) return false
  return sampling >= 1 || shareOf(sessionId ?? generationId) < sampling
}

/** A number from 0 to below 1 that a text always has: sessions are sampled whole. */
function shareOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32
}
