/**
 * Commands. Durations end in Ms, sizes in Bytes.
 */

/** How often a progress bar is drawn, and how often a running batch is polled. */
export const progressEveryMs = 100
export const batchPollEveryMs = 1_000
/** How long commands wait for an answer to begin, and for a large upload to be accepted. */
export const cliRequestMs = 120_000
export const cliUploadMs = 3_600_000
/** Largest JSON answer a command reads whole; results of batches are streamed instead. */
export const cliAnswerBytesMax = 64_000_000
/** Times a command asks again after the connection broke, and the pause before the first, which doubles. */
export const cliTriesMax = 5
export const cliPauseMs = 500
/** Batches and usage lines that a command lists at once. */
export const cliListMax = 20
/** Keys that `headrace keys` reads at a time. */
export const cliKeysMax = 1_000
/** The last moment that a key may expire at, the end of the year 9999: the last that dates have four digits for. */
export const latestExpiryMs = Date.UTC(9999, 11, 31, 23, 59, 59)
/** Calls at once that an import takes over for a provider; the configuration takes as many. */
export const concurrencyMax = 100_000
