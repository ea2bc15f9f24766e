/**
 * One call on its way to a provider: attempts, waits, reads. Durations end in Ms, sizes in Bytes.
 */

/** Attempts one call may make over all its endpoints: enough for two rounds of three, few enough to end. */
export const attemptsMax = 6
/** Largest whole JSON answer kept in memory: an embeddings answer of 2,048 vectors of 3,072 floats fits. */
export const answerBytesMax = 256_000_000
/** Whole time for fetching audio from a public address, redirects included. */
export const publicFetchMs = 120_000
