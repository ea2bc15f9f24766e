import { z } from 'zod'
import { modelIdLengthMax } from '../../core/limits/http.ts'

/** Counts code points, like the contract; a plain `max` would count UTF-16 units. */
export function textUpTo(lengthMax: number) {
  return z.string().refine((text) => text.length <= lengthMax || [...text].length <= lengthMax, {
    message: `must have at most ${lengthMax} characters`,
  })
}

export const modelSchema = z.string().min(1).max(modelIdLengthMax)

export const traceSchema = z.looseObject({
  trace_id: z.string().optional(),
  trace_name: z.string().optional(),
  span_name: z.string().optional(),
  generation_name: z.string().optional(),
  parent_span_id: z.string().optional(),
})
