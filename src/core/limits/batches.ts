/** Batches: how much is accepted, how they run, how long they are kept. Durations end in Ms, sizes in Bytes. */

/** The contract's limit for a batch body, after decompression: exactly this many bytes are accepted. */
export const batchBodyBytesMax = 200_000_000
/** The contract's limit for a caller's `custom_id`, in code points. */
export const customIdLengthMax = 64
/** One item of a batch. An item is parsed as a whole, so this bounds the memory of an upload; a larger item gets an error. */
export const batchItemBytesMax = 32_000_000
/**
 * The bound of such an item without its longer texts: millions of small values would block the event loop. A request
 * that fills a context of a million tokens has less.
 */
export const batchItemValuesBytesMax = 4_000_000
/** Unknown field names of one audio request that are listed as dropped. */
export const droppedNamesMax = 32
/** Items of batches one process executes at once; live traffic comes first within each deployment anyway. */
export const batchItemsAtOnce = 256
/** The share of the places for segments or items that one organization may use, so that others find a place. */
export function organizationShareOf(places: number): number {
  return Math.max(1, places - Math.ceil(places / 8))
}
/** The shortest time between two notes of why a segment's items wait. */
export const waitingNoteEveryMs = 3_000
/**
 * How long finished results are kept while storage refuses them, before their batch fails: time for an operator to make
 * room on a disk. Also for a segment that cannot be read or merged when its batch is to be closed.
 */
export const resultsHoldMs = 3_600_000
/** How often a worker looks for work that no signal announced. */
export const workerIdleMs = 1_000
/** Finished segments and parts whose rows are read at a time. */
export const mergedPageMax = 100
export const partsPageMax = 5
