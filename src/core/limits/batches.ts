/**
 * Batches: how much is accepted, how it runs, how long it is kept. Durations end in Ms, sizes in Bytes.
 */

/** The contract's limit for a batch body, after decompression: exactly this many bytes are accepted. */
export const batchBodyBytesMax = 200_000_000
/** The contract's limit for a caller's `custom_id`, in code points. */
export const customIdLengthMax = 64
/** Items of one input segment: large enough to amortise a row, small enough to lease and redo. */
export const segmentItemsMax = 1_000
/** Uncompressed bytes of one input segment: a worker holds that much of it. */
export const segmentBytesMax = 4_000_000
/** One item of a batch. An item is parsed as a whole, so this bounds the memory of an upload; a larger item gets an error. */
export const batchItemBytesMax = 32_000_000
/**
 * Everything of such an item but its longer texts: looking through millions of small values would stall all other calls. A
 * request that fills a context of a million tokens has less.
 */
export const batchItemValuesBytesMax = 4_000_000
/** Bytes of a batch body that are scanned in one go before others get their turn on the event loop. */
export const ingestSliceBytes = 262_144
/** Segments of one upload on their way to the disk at once: hides the time of an fsync. */
export const ingestWritesMax = 4
/** Uncompressed bytes of a segment that are compressed in one go, and how many such blocks of one upload may be on their way: with the item in hand these bound what ingest holds in memory. */
export const ingestBlockBytes = 524_288
export const ingestBlocksMax = 8
/** Bytes of items' demands that are priced before other work gets a turn; a demand has about six. */
export const demandBlockBytes = 16_384
/** Prices remembered while the items of a batch are priced: more lengths of input than most batches have. */
export const demandPricesMax = 10_000
/** Frames of items' bodies, everything but the messages, whose demand is remembered, and the bytes of one. */
export const demandFramesMax = 32
export const demandFrameBytesMax = 8_192
/** Uploads of batches read at once by one process; the bound on what scanning may hold in memory. */
export const ingestsMax = 8
/** How long an upload waits for its place, unread: shorter than load balancers keep a silent connection. */
export const uploadPlaceWaitMs = 30_000
/** Seconds after which an upload that got no place may be sent again. */
export const uploadPlaceRetrySeconds = 10
/** Decompression window of an upload, as a power of two: what RFC 9659 lets a sender of zstd expect. */
export const uploadWindowLog = 23
/** Bytes of one block of caller ids in memory. */
export const customIdBlockBytes = 1_048_576
/** Unknown field names of one audio request that are listed as dropped. */
export const droppedNamesMax = 32
/** The wait before an item that could not be started is tried again, when no provider named a time. */
export const batchRetryMs = 2_000
/** Times a unit with an unknown outcome is committed again before it is left as it is, and the wait between. */
export const uncertainCommitsMax = 5
export const uncertainWaitMs = 200
/** How long a key of an idempotent request is remembered: as long as the batch it made. */
export const idempotencyMs = 30 * 86_400_000
/** Characters of an `Idempotency-Key`. */
export const idempotencyKeyLengthMax = 256
/** Seconds after which a request may ask again while the first request with its key is still running. */
export const idempotencyRetrySeconds = 5
/** Keys whose release failed and is tried again; further ones stay claimed until this process ends. */
export const idempotencyReleasesMax = 1_000
/** Results gathered in memory before they become a durable part: the most that a crash repeats. */
export const partBytesMax = 1_000_000
export const partGatherMs = 2_000
/**
 * How long a process, or a segment that it took over, has to live before all that counts as proven. Until then results
 * gather for a share of `partGatherMs` as large as the proven share of this time, but not less than `partGatherMinMs`.
 */
export const provenMs = 30_000
export const partGatherMinMs = 25
/** A compressed part up to this size lives in its row, which saves a small batch two fsyncs per part. */
export const partInlineBytesMax = 65_536
/** Uncompressed bytes of one block of a merged segment: a reader of results holds that much at a time. */
export const mergedBlockBytes = 1_000_000
/** Results held at once while a segment is merged; beyond it the parts are read in several passes. Eight segments may be merged at once. */
export const mergePassBytes = 4_000_000
/** Output tokens expected of an item until the organization's answers of its model have been learned. */
export const expectedOutputTokens = 1_000
/** Names of ignored members that an answer lists. */
export const droppedMembersMax = 50
/** Entries of a batch's `provider.only`; there are fewer providers. */
export const providersOnlyMax = 500
/** By how many average items' worst cases a short batch's budget grows: few, so that other calls' money is not tied up. */
export const enlargeItems = 8
/** How often the rest of a budget is read again while other calls take from it, for an item that cost more than its hold. */
export const enlargeTriesMax = 4
/** Time between two looks at a budget that others were asked to give back to. */
export const acceptRetryMs = 50
/** What becomes of a batch within its completion window. */
export const completionWindowMs = 86_400_000
/** Items of batches one process executes at once; live traffic comes first within each deployment anyway. */
export const batchItemsAtOnce = 256
/**
 * Items of batches that a process which is not proven may lose by its death: so many, and one more for every
 * `durablePerItemAtRisk` that it made durable. Ten lives of a hundred durable items repeat 28 each at most.
 */
export const itemsAtRiskStart = 16
export const durablePerItemAtRisk = 8
/** Segments one process works on at once; with their inputs and gathered results this bounds the worker's memory. */
export const segmentsAtOnce = 8
/** The share of the places for segments or items that one organization may have, so that others find a place. */
export function organizationShareOf(places: number): number {
  return Math.max(1, places - Math.ceil(places / 8))
}
/** The shortest time between two notes of what a segment's waiting items wait for. */
export const waitingNoteEveryMs = 3_000
/** How long a segment stays leased without a renewal, and how often leases are renewed. */
export const segmentLeaseMs = 30_000
export const segmentRenewEveryMs = 8_000
/**
 * Tries of an item whose provider exceeded the time limit, beyond those of a live call: each may take long and be charged.
 * And the first wait between any two tries; it doubles.
 */
export const itemTimeoutsMax = 4
export const itemRetryMs = 5_000
/** Tries of an item whose provider failed, over ten minutes: the provider may restart, or the item itself may be the cause. */
export const itemFailuresMax = 8
/**
 * Tries of an item that was refused by a rate limit or for its credential, over fifty minutes. That is not the item's
 * fault: its batch's other items may fill the rate limit's window, and an operator can replace a refused credential.
 */
export const itemRefusalsMax = 16
/** Bounds on how long an item is put back for. */
export const itemRestMinMs = 50
export const itemRestMaxMs = 300_000
/** A segment whose items cannot run for longer than this is given back, so that a different segment gets its place. */
export const segmentRestMs = 5_000
/** Gathered results beyond which no new item of the segment starts until a part is durable. */
export const gatheredBytesMax = 4_000_000
/**
 * How long finished results are kept while storage refuses them, before their batch fails: time for an operator to make
 * room on a disk. Also for a segment that cannot be read or merged when its batch is to be closed.
 */
export const resultsHoldMs = 3_600_000
/** The first wait before a part is tried again, and the longest. */
export const partCommitRetryMs = 200
export const partCommitRetryMaxMs = 5_000
/**
 * Questions whether a part became real, one every `partCommitRetryMaxMs`: until its segment goes on without it, and then
 * more than fit into a batch's window.
 */
export const partDoubtsMax = 30
export const partQuestionsMax = 20_000
/** How long items may finish after their batch was cancelled, and when the process stops. */
export const cancelGraceMs = 30_000
export const workerStopMs = 20_000
/** Longest wait before a segment that could not be read or merged is tried again; it doubles from `workerIdleMs`. */
export const segmentRetryMaxMs = 60_000
/** How often a worker looks for work that no signal announced. */
export const workerIdleMs = 1_000
/** Batches a worker looks at in one round. */
export const activeBatchesMax = 200
/** How long it waits for batches to leave off, their results included: longer than `workerStopMs`. */
export const batchesStopMs = 30_000
/** Finished segments and parts whose rows are read at a time. */
export const mergedPageMax = 100
export const partsPageMax = 5
/** Bytes of results written to a reader at a time. */
export const resultsPieceBytes = 256 * 1024
/** How long one response may read results; blobs of deleted batches outlive it. */
export const resultsReadMsMax = 12 * 3_600_000
/** Batches per page of a list. */
export const batchListDefault = 20
export const batchListMax = 100
/** A batch's inputs and results are kept this long, and its blobs this long after its deletion. */
export const batchRetentionMs = 30 * 86_400_000
export const blobDeletionDelayMs = 86_400_000
/** Rows and blobs per page of cleaning up, pages per pass, and how often a pass is made. */
export const retentionPageMax = 200
export const retentionPagesMax = 500
export const retentionEveryMs = 3_600_000
/** Segments given back unfinished whose items' tries a worker remembers. */
export const rememberedSegmentsMax = 1_000
