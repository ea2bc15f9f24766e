/** Longest name of a job at a provider, in characters: those that are known have 36 at most. */
const providerIdLengthMax = 256

/**
 * The name that a provider gives a job, as it becomes a part of the path of looks and of its removal; null for what is none.
 * `.` and `..` would make it another path, and no request comes through with an endless one.
 */
export function jobIdOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > providerIdLengthMax) return null
  return /^[!-~]+$/.test(value) && value !== '.' && value !== '..' ? value : null
}
