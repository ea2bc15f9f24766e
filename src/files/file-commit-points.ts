/**
 * Every unit of files. A crash right before or right after any of them leaves no row without its bytes, and at most bytes
 * without a row, which the sweep of orphans removes.
 */
export const fileCommitPoints = { create: 'file.create', delete: 'file.delete' } as const
