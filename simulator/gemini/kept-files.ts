import type { Recognition } from '../recognise.ts'

/** An uploaded file. Its sound is recognised at once, because its bytes are not kept. */
export interface KeptFile {
  id: string
  displayName: string | null
  mimeType: string
  bytes: number
  /** Null when the file is not sound. */
  heard: { recognition: Recognition; seconds: number } | null
  createdAtMs: number
  /**
   * How often callers have asked for the file; before the first time its state is `PROCESSING`, as Google takes
   * a while.
   */
  looks: number
}

/** An upload that was announced. */
interface Announced {
  displayName: string | null
  mimeType: string
  bytes: number
}

/** The files of one mount. */
export interface KeptFiles {
  readonly announced: Map<string, Announced>
  readonly files: Map<string, KeptFile>
}

export function createKeptFiles(): KeptFiles {
  return { announced: new Map(), files: new Map() }
}
