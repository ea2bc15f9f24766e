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
/** Longest watch over one batch: its window of a day, and an hour to finish. */
export const batchWatchMs = 25 * 3_600_000
/** Life of a key that a command makes for itself: longer than any batch it sends can run. */
export const temporaryKeyMs = 25 * 3_600_000
/** Times a command asks again after the connection broke, and the pause before the first, which doubles. */
export const cliTriesMax = 5
export const cliPauseMs = 500
/** How long a command waits for the ledger to show a call: captures are durable before an answer ends, so this is generous. */
export const receiptWaitMs = 3_000
export const receiptEveryMs = 50
/** Batches and usage lines that a command lists at once. */
export const cliListMax = 20
/** Blobs that `headrace doctor` looks at, so that it ends on any store. */
export const doctorBlobsMax = 100_000
/** Free disk space below which `headrace doctor` warns: two of the largest uploads with their results. */
export const diskFreeBytesMin = 1_000_000_000
/** Difference between the database's clock and this machine's that `headrace doctor` still takes for delay. */
export const clockDifferenceMsMax = 2_000
/** Keys that `headrace keys` reads at a time. */
export const cliKeysMax = 1_000
/** The doctor warns so long before a provider shuts a model down: 60 days. */
export const expirationWarningMs = 60 * 24 * 3_600_000
/** The last moment that a key may expire at, the end of the year 9999: the last that dates have four digits for. */
export const latestExpiryMs = Date.UTC(9999, 11, 31, 23, 59, 59)
/** Groups that `headrace usage` shows at the most. */
export const usageGroupsMax = 10_000
/** Names and aliases that the doctor asks the gateway for, one by one. */
export const doctorNamesMax = 50
/** Calls at once that an import takes over for a provider; the configuration takes as many. */
export const concurrencyMax = 100_000
/** Names that an import tells of a list before it counts the rest. */
export const importNamesShown = 3
/** Rows that an import reads and writes at once. */
export const importPageRows = 200
