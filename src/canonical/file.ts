import type { BatchId, OrganizationId } from '../core/ids.ts'

/** What a caller may upload a file for. */
export const uploadPurposes = ['batch', 'user_data', 'assistants', 'vision'] as const
/** One of `uploadPurposes`. */
export type UploadPurpose = (typeof uploadPurposes)[number]

/** A file of an organization. Times are Unix milliseconds by the database's clock. */
export interface StoredFile {
  id: string
  organizationId: OrganizationId
  /** What it was uploaded for, or `batch_output` for results of a batch. */
  purpose: string
  name: string
  mediaType: string
  bytes: number
  /** Null for results of a batch, which are read from the batch. */
  blob: string | null
  /** The batch whose results it has; null for an upload. */
  batchId: BatchId | null
  createdAtMs: number
  expiresAtMs: number | null
}

/** Which results of a batch a file has. */
export type ResultKind = 'out' | 'err'

/** The ids of all files begin with this, so that they are not mistaken for those of a provider. */
export const fileIdPrefix = 'hrfile'

/** The id of the file with these results of a batch. */
export function resultFileId(batchId: BatchId, kind: ResultKind): string {
  return `${fileIdPrefix}_${kind}_${batchId.slice(batchId.indexOf('_') + 1)}`
}
