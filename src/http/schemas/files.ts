import { z } from 'zod'
import { filesPageMax } from '../../core/limits/files.ts'

const shape = z.literal('openrouter').describe('Tells the contract’s own files apart from those of vendors.')

/** Form of `POST /files`; read as a stream, so this schema describes it and does not validate it. */
export const fileFormSchema = z.object({
  file: z
    .string()
    .meta({ format: 'binary', description: 'At most 100 MB; its type is told by its content.' }),
})

/** A file. */
export const fileSchema = z
  .object({
    _shape: shape,
    id: z.string(),
    type: z.literal('file'),
    filename: z.string(),
    mime_type: z.string().describe('By the content, not by the name.'),
    size_bytes: z.int().min(0),
    created_at: z.string().describe('RFC 3339.'),
    downloadable: z.boolean().describe('Results of batches are; uploads are used by their id.'),
  })
  .meta({ id: 'File' })

/** A page of files, the oldest first. */
export const fileListSchema = z
  .object({
    _shape: shape,
    data: z.array(fileSchema),
    cursor: z.string().nullable().describe('For the next page; null on the last.'),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'FileList' })

/** What is left of a deleted file. */
export const fileDeletionSchema = z
  .object({ _shape: shape, id: z.string(), type: z.literal('file_deleted') })
  .meta({ id: 'FileDeletion' })

/** Query of `GET /files`. */
export const fileListQuerySchema = z.object({
  limit: z.int().min(1).max(filesPageMax).optional(),
  cursor: z.string().optional().describe('The `cursor` of the page before.'),
})
