/**
 * What calls leave at providers, and its removal. Durations end in Ms.
 */

/** How often a process looks for things to remove, and for processes that have died. */
export const resourcesLookEveryMs = 10_000
/** Removals of one process at once: they are never in a hurry, and share the provider's rate with calls. */
export const removalsAtOnce = 4
/** Rounds of removals that one look makes, so that a stop need not wait for a long list. */
export const removalRoundsMax = 50
/** Longest time for one request of a removal, answer included. */
export const removalRequestMs = 30_000
/** Requests of one removal: pages of a listing and what is found on them. */
export const removalRequestsMax = 30
/** How long no other process tries a removal that a process has begun: longer than its requests can take together. */
export const removalLeaseMs = 1_200_000
/** Tries of one removal, about two days with the waits between: an outage of the provider passes, a lost key does not. */
export const removalTriesMax = 30
/** Wait before a failed removal is tried again; it doubles up to the longest. */
export const removalWaitMs = 5_000
export const removalWaitMsMax = 7_200_000
/**
 * How often a thing whose id never came is looked for, and the waits between. A request that was running when its process
 * died may arrive later, and a listing may lag behind.
 */
export const lostLookWaitsMs: readonly number[] = [30_000, 600_000]
/** How much the clocks of a provider and of the database may differ. */
export const providerClockSlackMs = 300_000
/** How long a row stays that says why something was not removed. */
export const keptResourceMs = 30 * 86_400_000
/** Such rows that one look deletes. */
export const keptResourcesRoundMax = 1_000
/** Changes of rows that wait for storage to take them; beyond, the row is left to the end of this process. */
export const resourceChangesMax = 10_000
/** How long a stop goes on removing what the last calls left. */
export const resourcesStopMs = 5_000
/** Notes of one kind that are compared with a provider's listing; a listed thing without one of these is unknown. */
export const knownResourcesMax = 100_000
/** Processes that are checked for being dead in one look. */
export const resourceOwnersMax = 1_000
/** Longest name of a job at a provider, in characters: those that are known have 36 at most. */
export const providerIdLengthMax = 256
