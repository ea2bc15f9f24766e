/**
 * Keys, rates and rules. Durations end in Ms, sizes in Bytes.
 */

/** How long a loaded key is used before it is read again. */
export const principalFreshMs = 2_000
/** How often one client address gets one more refusal of an unknown key, after those that it gets at once. */
export const unknownKeyRefusalEveryMs = 4_000
/** Rate limits, and refusals by them, that one process keeps in memory. */
export const rateLimitsMax = 20_000
/** The length of an imported secret, and the entries of a list in a policy. */
export const importedKeyLengthMin = 16
export const importedKeyLengthMax = 512
export const policyListMax = 1_000
/** The last moment at which a key may expire, the end of the year 9999: later dates need more than four digits. */
export const latestExpiryMs = Date.UTC(9999, 11, 31, 23, 59, 59)
/** How long a session stays open without being used. */
export const sessionIdleMs = 12 * 3_600_000
/** The length of an email address. */
export const emailLengthMax = 254
