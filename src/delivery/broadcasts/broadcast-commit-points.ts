/**
 * Every unit of broadcasts. A crash right before or right after any of them loses no generation; it may tell one twice.
 * The rows themselves come with the captures.
 */
export const broadcastCommitPoints = {
  claim: 'broadcast.claim',
  record: 'broadcast.record',
  trim: 'broadcast.trim',
  again: 'broadcast.again',
} as const

/** The name of one of them. */
export type BroadcastCommitPoint = (typeof broadcastCommitPoints)[keyof typeof broadcastCommitPoints]
