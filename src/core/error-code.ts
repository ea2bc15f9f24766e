/** The code of a thrown value, such as the system's `ENOENT` or the driver's `SQLITE_FULL`. */
export function codeOf(thrown: unknown): string | null {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return null
  return typeof thrown.code === 'string' ? thrown.code : null
}
