import type { CacheMark } from '../../canonical/text/conversation.ts'
import { isRecord } from '../../json/values.ts'

/** A `cache_control` member, which chat and messages spell the same; null for anything else. */
export function readCacheMark(wire: unknown): CacheMark | null {
  if (!isRecord(wire) || wire['type'] !== 'ephemeral') return null
  const { ttl } = wire
  return { ttl: ttl === '5m' || ttl === '1h' ? ttl : null }
}

/** The member's value. */
export function writeCacheMark({ ttl }: CacheMark): Record<string, unknown> {
  return ttl === null ? { type: 'ephemeral' } : { type: 'ephemeral', ttl }
}
