/**
 * Keys, rates and rules. Durations end in Ms, sizes in Bytes.
 */

/** How long a loaded key is used before it is read again, and how long it serves while storage is out of order. */
export const principalFreshMs = 2_000
export const principalStaleMs = 300_000
/**
 * For unknown keys. How many refusals one client address gets at once, and how often one more: 30 within any minute. How
 * many lookups without a result, for one address and for all: 50 and 500 a second. So a good key is found soon among bad
 * ones, and a flood of bad ones causes only a small part of the database's reads. Then: how many keys of one address wait
 * for their turn, for how long, and how many addresses are watched.
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
/** How far ahead one call's tokens may use up a limit: an hour of it. */
export const rateDebtMs = 3_600_000
export const rateLimitsMax = 20_000
/** The length of an imported secret, and the entries of a list in a policy. */
export const importedKeyLengthMin = 16
export const importedKeyLengthMax = 512
export const policyListMax = 1_000
