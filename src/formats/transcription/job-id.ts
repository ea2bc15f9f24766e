/** Longest name of a job at a provider, in characters: those that are known have 36 at most. */
const providerIdLengthMax = 256

/**
 * A provider's job id, for the paths that read and remove the job; null for an invalid one. `.` and `..` would change
 * the path, and an overlong id would make every request fail.
 */
export function jobIdOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > providerIdLengthMax) return null
  return /^[!-~]+$/.test(value) && value !== '.' && value !== '..' ? value : null
}
