/** The list of a build's files, in its folder. */
export const manifestName = 'console-files.json'

/** A file for browsers. */
export interface BuiltFile {
  /** Its path in the folder, with slashes. */
  name: string
  /** Whether `<name>.br` and `<name>.gz` are beside it. */
  isCompressed: boolean
  /** Whether its name changes with its content. */
  isHashed: boolean
  etag: string
}
