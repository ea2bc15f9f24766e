import type { StoredFile } from '../../canonical/file.ts'

/** OpenAI's file object; times are Unix seconds. */
export interface FileObject {
  id: string
  object: 'file'
  bytes: number
  created_at: number
  expires_at: number | null
  filename: string
  purpose: string
  status: 'processed'
  status_details: null
}

/** A file as OpenAI's clients see it. */
export function toFileObject({ id, bytes, createdAtMs, expiresAtMs, name, purpose }: StoredFile): FileObject {
  return {
    id,
    object: 'file',
    bytes,
    created_at: Math.floor(createdAtMs / 1000),
    expires_at: expiresAtMs === null ? null : Math.floor(expiresAtMs / 1000),
    filename: name,
    purpose,
    status: 'processed',
    status_details: null,
  }
}
