import type { Clock } from '../core/clock.ts'

/** Conversations that are remembered: most per organization, most organizations, and how long without use. */
export const stickyPerOrganizationMax = 1_000
const stickyOrganizationsMax = 1_000
export const stickyIdleMs = 600_000

/** What identifies a conversation. */
export interface StickyConversation {
  organizationId: string
  /** Base model id: when a conversation uses two models, each sticks to its own endpoint. */
  model: string
  /** `session_id` or `prompt_cache_key`. */
  key: string
}

/** Remembers which endpoint answered a conversation last, so that the next call finds the provider's prompt cache. */
export interface StickyRoutes {
  /** The endpoint's id; null when none answered within the idle time. */
  endpointOf(conversation: StickyConversation): string | null
  /** This endpoint answered; the idle time starts again. */
  remember(conversation: StickyConversation, endpointId: string): void
  /** The endpoint failed: the next call is routed freely. */
  release(conversation: StickyConversation): void
}

interface Entry {
  endpointId: string
  /** Monotonic milliseconds. */
  usedAtMs: number
}

/** At its bounds, it forgets the least recently used conversation, or organization. */
export function createStickyRoutes({ clock }: { clock: Clock }): StickyRoutes {
  const organizations = new Map<string, Map<string, Entry>>()
  return {
    endpointOf(conversation) {
      const entries = organizations.get(conversation.organizationId)
      const key = keyOf(conversation)
      const entry = entries?.get(key)
      if (!entry) return null
      if (entry.usedAtMs + stickyIdleMs > clock.monotonicMs()) return entry.endpointId
      entries?.delete(key)
      return null
    },
    remember(conversation, endpointId) {
      const entries = organizations.get(conversation.organizationId) ?? new Map<string, Entry>()
      toNewest(organizations, conversation.organizationId, entries)
      toNewest(entries, keyOf(conversation), { endpointId, usedAtMs: clock.monotonicMs() })
      keepNewest(organizations, stickyOrganizationsMax)
      keepNewest(entries, stickyPerOrganizationMax)
    },
    release(conversation) {
      organizations.get(conversation.organizationId)?.delete(keyOf(conversation))
    },
  }
}

function keyOf({ model, key }: StickyConversation): string {
  return `${model}\n${key}`
}

/** Moves an entry to the end of its map: a map keeps the order of insertion, so the first entry is the least recently used. */
function toNewest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
}

function keepNewest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}
