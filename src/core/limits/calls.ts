/**
 * One call on its way to a provider: attempts, waits, reads. Durations end in Ms, sizes in Bytes.
 */

/** Attempts one call may make over all its endpoints: enough for two rounds of three, few enough to end. */
export const attemptsMax = 6
/** Wait before the same endpoint is tried again when the provider named none. */
export const retryDelayMs = 250
/** Bytes that are read of an upstream's error body; the important part is at its beginning. */
export const errorBodyBytesMax = 65_536
/** The largest request body that a caller may ask to see: parsing a larger one would stall all other calls. */
export const debugBodyBytesMax = 524_288
/** Largest whole JSON answer kept in memory: an embeddings answer of 2,048 vectors of 3,072 floats fits. */
export const answerBytesMax = 256_000_000
/** Longest silence in the middle of an upstream's body; a model that thinks between two pieces is quiet for minutes. */
export const upstreamIdleMs = 300_000
/** Whole time for fetching audio from a public address, redirects included. */
export const publicFetchMs = 120_000
/** Longest time of a transcription in seconds, as the operator may set it: from a short voice message to a day of sound on a slow machine. */
export const transcriptionSecondsMin = 5
export const transcriptionSecondsMax = 86_400
/** Longest wait for the head of one answer on the way to a public address; servers that drip it are not waited for. */
export const publicHeadMs = 20_000
/** Redirects followed when fetching from a public address. */
export const publicRedirectsMax = 5
/** Longest wait for a provider before it is tried again inside one call; a longer one goes back to the caller as a hint. */
export const retryWaitMsMax = 2_500
/** The largest answer of known length that is read at once, when a stall is not noticed: 13 kB a second within `upstreamIdleMs`. */
export const readAtOnceBytesMax = 4_000_000
/** How long a stream whose answers have all finished waits for its terminator, and how long for its usage. */
export const streamEndWaitMs = 1_000
export const streamUsageWaitMs = 5_000
/** Reads of an upstream's body that are waiting already and are taken in before a stream begins; beyond, it is streamed. */
export const readsAtOnceMax = 8
/** The same in bytes; one read more may go beyond. */
export const bytesAtOnceMax = 262_144
/** Bytes that a stream rewrites at a time; the rest waits while the caller does not read. */
export const rewrittenBytesMax = 65_536
/** Requests of one attempt: a job that is asked for every second until a call's own time is over, at its longest. */
export const exchangesMax = 90_000
/** Looks at a job that may fail one after the other before it is given up, and the wait after the first, which doubles. */
export const pollFailuresMax = 5
export const pollRetryWaitMs = 1_000
