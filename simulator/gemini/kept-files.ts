import type { Recognition } from '../recognise.ts'

/** An uploaded file. Its sound is recognised at once, because its bytes are not kept. */
export interface KeptFile {
  id: string
  displayName: string | null
  mimeType: string
  bytes: number
  /** Null for what is no sound. */
  heard: { recognition: Recognition; seconds: number } | null
  createdAtMs: number
  /** Google looks at a file for a while: it is processed until it has been looked at so often. */
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
