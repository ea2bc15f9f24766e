/**
 * Keys, rates and rules. Durations end in Ms, sizes in Bytes.
 */

/** How long a loaded key is used before it is read again, and how long it serves while storage is out of order. */
export const principalFreshMs = 2_000
export const principalStaleMs = 300_000
/** Keys kept loaded, and hashes remembered as unknown. */
export const principalCacheMax = 10_000
export const unknownKeyCacheMax = 10_000
/**
 * Refusals of keys that are none which one client address has at once, and how often it has one more: 30 within any minute.
 * Lookups that find none, for one address and for all of them: 50 and 500 a second, so that a good key is found soon among
 * bad ones, and a flood of bad ones stays a small part of what a database reads. How many keys of one address wait for
 * their turn, for how long, and addresses watched.
 */
export const unknownKeyRefusalsMax = 15
export const unknownKeyRefusalEveryMs = 4_000
export const unknownKeyLookupsMax = 50
export const unknownKeyLookupEveryMs = 20
export const unknownKeyLookupsInTotalMax = 500
export const unknownKeyLookupInTotalEveryMs = 2
export const unknownKeysWaitingMax = 1_000
export const unknownKeyWaitMsMax = 30_000
export const authenticationAddressesMax = 10_000
/** Rates up to this many per minute are decided in the database, larger ones as shares in each process. */
export const databaseRateMax = 120
/** How often shares of large rates are divided anew, how long a silent process keeps counting, and limits tracked at once. */
export const rateShareEveryMs = 1_000
export const rateShareSilentMs = 3_000
/** How far ahead the tokens of one call may use up a limit: an hour of it. */
export const rateDebtMs = 3_600_000
export const rateLimitsMax = 20_000
/** Batch creations per minute of an organization that has no limit of its own. */
export const batchesPerMinuteDefault = 60
/** Length of a secret that somebody brings along, and entries of one list in a policy. */
export const importedKeyLengthMin = 16
export const importedKeyLengthMax = 512
export const policyListMax = 1_000
/** Times a change of stored rules is tried again because another one came between; operators are few. */
export const ruleChangeAttemptsMax = 5
