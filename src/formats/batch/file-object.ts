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

/** A file as the contract shows it. `_shape` tells it apart from OpenAI's and Anthropic's. */
export interface ContractFile {
  _shape: 'openrouter'
  id: string
  type: 'file'
  filename: string
  mime_type: string
  size_bytes: number
  created_at: string
  downloadable: boolean
}

/** A file as the contract's clients see it: what was uploaded is used and not read back. */
export function toContractFile({
  id,
  bytes,
  createdAtMs,
  mediaType,
  name,
  batchId,
}: StoredFile): ContractFile {
  return {
    _shape: 'openrouter',
    id,
    type: 'file',
    filename: name,
    mime_type: mediaType,
    size_bytes: bytes,
    created_at: new Date(createdAtMs).toISOString(),
    downloadable: batchId !== null,
  }
}
