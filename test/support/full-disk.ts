import { existsSync } from 'node:fs'

/** A file that takes nothing, as on a full disk. */
export const fullDisk = '/dev/full'

/** False where the system has no such file; what needs it is skipped then, and this is printed. */
export const hasFullDisk = existsSync(fullDisk)
if (!hasFullDisk) console.warn(`skipped for a full disk: this system has no ${fullDisk}`)
