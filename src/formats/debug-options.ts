import { z } from 'zod'
import type { ShownDebug } from '../canonical/upstream.ts'

/** The contract's `debug` member of a request. */
export const debugSchema = z
  .looseObject({ echo_upstream_body: z.boolean().nullish() })
  .describe('Shows the body that the provider is sent, and when it answered, in `debug` of the answer.')

/** The effective options of the `debug` member, and the names of options that have no effect. */
interface DebugOptions {
  asked: { debug?: true }
  dropped: readonly string[]
}

const nothingAsked: DebugOptions = { asked: {}, dropped: [] }

/** Reads the member after it was checked. */
export function readDebugOptions(debug: z.output<typeof debugSchema> | null | undefined): DebugOptions {
  return debug === null || debug === undefined ? nothingAsked : readStated(debug)
}

function readStated(debug: z.output<typeof debugSchema>): DebugOptions {
  const { echo_upstream_body: echo, ...others } = debug
  const dropped = Object.keys(others).map((name) => `debug.${name}`)
  return { asked: echo === true ? { debug: true } : {}, dropped }
}

/** The name that is listed as dropped when the body is too large to be shown. */
export const echoName = 'debug.echo_upstream_body'

/** The exchange with the provider, as the contract shows it. */
export function writeDebug({ sentBody, stage }: ShownDebug): Record<string, unknown> {
  const { event, startMs, epochMs } = stage
  return {
    ...(sentBody === undefined ? {} : { echo_upstream_body: sentBody }),
    timings: { start_ms: startMs, event, epoch_ms: epochMs },
  }
}
