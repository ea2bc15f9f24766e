import { type Described, json } from './described.ts'
import {
  fileDeletionSchema,
  fileFormSchema,
  fileListQuerySchema,
  fileListSchema,
  fileSchema,
} from './schemas/files.ts'

const common = { tag: 'Files', access: 'inference' } as const
const errors = [400, 401, 403, 404, 429, 500, 503]

const shown = {
  _shape: 'openrouter',
  id: 'hrfile_0mvxk3l9q7f2a4c6e8g0i2k4',
  type: 'file',
  filename: 'report.pdf',
  mime_type: 'application/pdf',
  size_bytes: 48_213,
  created_at: '2026-11-23T09:00:00.000Z',
  downloadable: false,
} as const
const { id } = shown

/** The contract's files in the API description. */
export const fileDescription: Readonly<Record<string, Described>> = {
  'POST /files': {
    ...common,
    id: 'uploadFile',
    summary: 'Upload a file that calls can name',
    description:
      'PDF, images, office documents, audio or UTF-8 text. A call names it as `file_id`, and its provider gets the bytes. Below `/openai/v1` the same files have OpenAI’s form.',
    body: { 'multipart/form-data': { schema: fileFormSchema } },
    answer: { status: 200, description: 'The file', content: json(fileSchema, shown) },
    errors: [...errors, 413].toSorted((left, right) => left - right),
  },
  'GET /files': {
    ...common,
    id: 'listFiles',
    summary: 'List the files of the organization',
    description: 'The oldest first.',
    query: fileListQuerySchema,
    answer: {
      status: 200,
      description: 'A page of files',
      content: json(fileListSchema, {
        _shape: 'openrouter',
        data: [shown],
        cursor: null,
        first_id: id,
        last_id: id,
        has_more: false,
      }),
    },
    errors,
  },
  'GET /files/:id': {
    ...common,
    id: 'getFile',
    summary: 'Read what is known of a file',
    answer: { status: 200, description: 'The file', content: json(fileSchema, shown) },
    errors,
  },
  'GET /files/:id/content': {
    ...common,
    id: 'downloadFile',
    summary: 'Download the results of a batch',
    answer: {
      status: 200,
      description: 'The bytes; 400 for a file that was uploaded',
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    },
    errors,
  },
  'DELETE /files/:id': {
    ...common,
    id: 'deleteFile',
    summary: 'Delete a file',
    answer: {
      status: 200,
      description: 'It is gone',
      content: json(fileDeletionSchema, { _shape: 'openrouter', id, type: 'file_deleted' }),
    },
    errors,
  },
}
