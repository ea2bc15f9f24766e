/**
 * The database and the blob store. Durations end in Ms, sizes in Bytes.
 */

/** Rows that one writer transaction may change, so that other writers get their turn. */
export const writerRowsMax = 200
/**
 * The least time between two write groups, in which writes gather: one wake-up of the writer costs as much as ten
 * inserts.
 */
export const writerSpacingMs = 2
/** How long a commit may take before its caller gets `storage_unavailable`; longer than any healthy disk needs. */
export const commitWaitMs = 30_000
/** Distinct statements kept translated and prepared; the program has a few hundred. */
export const statementCacheMax = 500
/** How long opening a connection to PostgreSQL may take. */
export const postgresConnectMs = 5_000
/** Objects one page of a blob listing may name. */
export const blobListMax = 1_000
