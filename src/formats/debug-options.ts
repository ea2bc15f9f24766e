import { z } from 'zod'

/** The contract's `debug` member of a request. */
export const debugSchema = z
  .looseObject({ echo_upstream_body: z.boolean().nullish() })
  .describe('Shows the body that the provider is sent, and when it answered, in `debug` of the answer.')

/** What of the member a call carries, and the names of what has no effect. */
interface DebugOptions {
  asked: { debug?: true }
  dropped: readonly string[]
}

const nothingAsked: DebugOptions = { asked: {}, dropped: [] }

/** Reads the member once it was checked. */
export function readDebugOptions(debug: z.output<typeof debugSchema> | null | undefined): DebugOptions {
  if (debug === null || debug === undefined) return nothingAsked
  const { echo_upstream_body: echo, ...others } = debug
  const dropped = Object.keys(others).map((name) => `debug.${name}`)
  return { asked: echo === true ? { debug: true } : {}, dropped }
}
