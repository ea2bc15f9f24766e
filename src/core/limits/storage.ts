/**
 * The database and the blob store. Durations end in Ms, sizes in Bytes.
 */

/** Rows that one writer transaction may touch, and how long it may gather them, so that other writers get their turn. */
export const writerRowsMax = 200
export const writerGatherMs = 5
/** Writes that may wait for the writer before new ones are refused with a storage error. */
export const writerQueueMax = 20_000
/** Least time between two write groups, in which writes gather: one wake-up of the writer costs as much as ten inserts. */
export const writerSpacingMs = 2
/** Rows of a group from which on the next one waits that long: below it there is little to gather, and a caller waits for it. */
export const writerBusyRows = 20
/** How long a commit may take before its caller gets `storage_unavailable`; longer than any healthy disk needs. */
export const commitWaitMs = 30_000
/** How long a read may take on a database across the network before its connection is given up. */
export const readWaitMs = 10_000
/** Distinct statements kept translated and prepared; the program has a few hundred. */
export const statementCacheMax = 500
/** How long a connection may wait for SQLite's own lock; the file lock makes real waits rare. */
export const sqliteBusyMs = 5_000
/** Times a read is tried again when another process has the database for a moment, and the pause between. */
export const readTriesMax = 20
export const readPauseMs = 5
/** Times a PostgreSQL transaction is tried that deadlocked, could not be serialised or lost its connection; pauses double. */
export const transactionTriesMax = 5
export const transactionPauseMs = 20
/** Connections of one process to PostgreSQL for reads and writes; a server usually allows a hundred in all. */
export const postgresConnectionsMax = 8
/** How long opening a connection to PostgreSQL may take. */
export const postgresConnectMs = 5_000
/** How long an owner's lock on PostgreSQL must have been free: a live owner takes a lost lock again well within. */
export const postgresOwnerGraceMs = 5_000
/** Pause before a lost owner's lock is taken again; far below the grace that others give it. */
export const postgresOwnerPauseMs = 250
/** How long a migration that must have the database for itself waits for others to end: longer than a gateway's stop takes. */
export const migrationWaitMs = 60_000
/** And how long where a person waits at a command. */
export const migrationCommandWaitMs = 15_000
/** The pause between two checks for other processes on the database. */
export const migrationPauseMs = 250
/** How long a migration may take: it goes through every row once, some hundred thousand in a second. */
export const migrationMsMax = 3_600_000
/** How long PostgreSQL keeps an owner's mark as dead; a process that asks later waits for `postgresOwnerGraceMs`. */
export const deadOwnerKeptMs = 3_600_000
/** Owner files that one look reads, and how long a file that proves nothing here is kept. */
export const ownerTracesMax = 1_000
export const ownerTraceKeptMs = 86_400_000
/** Rows of a bulk insert that travel in one statement on PostgreSQL, so that its text stays within a few megabytes. */
export const bulkRowsMax = 1_000
/** Objects one page of a blob listing may name. */
export const blobListMax = 1_000
/** How long a blob store may be without the id that another process has just written into the database, and between two looks. */
export const blobStoreWaitMs = 2_000
export const blobStorePauseMs = 100
/** Payloads of batches that are looked for in a store; finding one is enough. */
export const blobsLookedForMax = 5
/** Bytes read from a blob at a time, so that a slow reader holds no more. */
export const blobChunkBytes = 256 * 1024
/** Effort of zstd: higher levels cost several times the CPU for a few percent of JSON. */
export const zstdCompressionLevel = 3
/** How long a refused caller waits until its refusal is noted: a full or stalled disk must not keep the caller waiting. */
export const refusalNoteMs = 500
/** Refused calls of one process that are noted beside the database while it is gone, and looked for there. */
export const refusalNotesMax = 1_000
/** How long a stopping process waits for storage in the end; longer than `billingStopMs`. */
export const storageStopMs = 15_000
/** A blob without a row is removed when it is this old and has been seen without one this long ago. */
export const orphanAgeMs = 2 * 86_400_000
export const orphanSecondLookMs = 3_600_000
/** Days for which PostgreSQL has partitions before they are needed, and how often that is looked after. */
export const partitionDaysAhead = 7
export const partitionEveryMs = 3_600_000
/** How long creating a partition waits for a lock, while reads of all partitions wait behind it. */
export const partitionLockMs = 2_000
