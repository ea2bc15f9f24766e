import { z } from 'zod'

/** The contract's `debug` member of a request. */
export const debugSchema = z
  .looseObject({ echo_upstream_body: z.boolean().nullish() })
  .describe('Shows the body that the provider is sent, and when it answered, in `debug` of the answer.')

/** What of it a call carries, and the names of what has no effect. */
export function readDebugOptions(debug: z.output<typeof debugSchema> | null | undefined): {
  asked: { debug?: true }
  dropped: string[]
} {
  const { echo_upstream_body: echo, ...others } = debug ?? {}
  const dropped = Object.keys(others).map((name) => `debug.${name}`)
  return { asked: echo === true ? { debug: true } : {}, dropped }
}
