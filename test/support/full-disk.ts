import { existsSync } from 'node:fs'

/** A file that accepts no bytes, like a full disk. */
export const fullDisk = '/dev/full'

/** False when the system lacks such a file; tests that need it are skipped, and this is printed. */
export const hasFullDisk = existsSync(fullDisk)
if (!hasFullDisk) console.warn(`skipped for a full disk: this system has no ${fullDisk}`)
