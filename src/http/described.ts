import type { z } from 'zod'
import type { Access } from './pipeline.ts'

/** One media type of a body or an answer. */
export interface DescribedContent {
  schema: z.ZodType | Readonly<Record<string, unknown>>
  example?: unknown
}

/** One way in which a route answers. */
export interface DescribedAnswer {
  status: number
  description: string
  content: Readonly<Record<string, DescribedContent>>
  /** Headers besides those of every answer. */
  headers?: readonly { name: string; description: string }[]
}

/** What the API description says of a route; the key in `apiDescription` is `METHOD path`. */
export interface Described {
  id: string
  tag: string
  summary: string
  description?: string
  access: Access
  query?: z.ZodType
  headers?: readonly { name: string; description: string }[]
  body?: Readonly<Record<string, { schema: z.ZodType; example?: unknown }>>
  answer: DescribedAnswer
  /** Other answers that are not the error envelope. */
  others?: readonly DescribedAnswer[]
  /** Statuses with the error envelope. */
  errors: readonly number[]
}

/** Statuses with the envelope of routes that read one thing, and of those that list. */
export const readErrors = [400, 401, 403, 404, 429, 500, 503]
export const listErrors = [400, 401, 429, 500, 503]

/** A body or an answer of JSON, with an example of it. */
export const json = (schema: z.ZodType, example?: unknown) => ({
  'application/json': example === undefined ? { schema } : { schema, example },
})
