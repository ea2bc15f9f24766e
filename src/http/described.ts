import type { z } from 'zod'
import type { Access } from './pipeline.ts'

/** One media type of a body or an answer. */
export interface DescribedContent {
  schema: z.ZodType | Readonly<Record<string, unknown>>
  example?: unknown
}

/** One possible answer of a route. */
export interface DescribedAnswer {
  status: number
  description: string
  content: Readonly<Record<string, DescribedContent>>
  /** Headers besides those of every answer. */
  headers?: readonly { name: string; description: string }[]
}

/** A route in the API description; its key in `apiDescription` is `METHOD path`. */
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

/** The statuses with the error envelope: of routes that read one object, and of routes that list. */
export const readErrors = [400, 401, 403, 404, 429, 500, 503]
export const listErrors = [400, 401, 429, 500, 503]

/** A JSON body or answer, with an example. */
export const json = (schema: z.ZodType, example?: unknown) => ({
  'application/json': example === undefined ? { schema } : { schema, example },
})
