/**
 * Every bound of the gateway, in one place, each with its reason. Durations end in Ms, sizes in Bytes.
 */

/** The contract's limit for a batch body, after decompression: exactly this many bytes are accepted. */
export const batchBodyBytesMax = 200_000_000
/** The contract's limit for a caller's `custom_id`, in code points. */
export const customIdLengthMax = 64
/** Items of one input segment: large enough to amortise a row, small enough to lease and redo. */
export const segmentItemsMax = 1_000
/** Uncompressed bytes of one input segment; with the item in hand this bounds what ingest holds in memory. */
export const segmentBytesMax = 4_000_000
/** Largest JSON body of a live text call: long contexts with inline images fit, a stray upload does not. */
export const liveBodyBytesMax = 64_000_000
/** Largest audio upload, §7 of the design; refused with 413 beyond. */
export const audioBodyBytesMax = 1_000_000_000
/** Headers and identifiers a caller may send. */
export const sessionIdLengthMax = 256
export const userIdLengthMax = 256
export const modelIdLengthMax = 256
/** Rows one writer transaction may touch, and how long it may gather them, so that other writers get their turn. */
export const writerRowsMax = 200
export const writerGatherMs = 5
/** Writes that may wait for the writer before new ones are refused with a storage error. */
export const writerQueueMax = 20_000
/** How long a finished call waits for its capture to be durable before the response is cut. */
export const captureWaitMs = 10_000
/** How long a shortage of budget may be settled by recalling other owners' slices before a 402. */
export const recallWaitMs = 250
