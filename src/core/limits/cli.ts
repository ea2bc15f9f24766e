/**
 * Commands. Durations end in Ms, sizes in Bytes.
 */

/** Largest JSON answer a command reads whole; results of batches are streamed instead. */
export const cliAnswerBytesMax = 64_000_000
/** How often a command repeats a request after the connection broke, and the first pause, which doubles each time. */
export const cliTriesMax = 5
export const cliPauseMs = 500
/** Batches and usage lines in one list of a command. */
export const cliListMax = 20
/** Keys that `headrace keys` reads at a time. */
export const cliKeysMax = 1_000
/** The most concurrent calls to a provider that an import accepts; the configuration has the same bound. */
export const concurrencyMax = 100_000
