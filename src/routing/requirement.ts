import type { Endpoint } from '../canonical/endpoint.ts'
import type { GatewayError } from '../core/errors.ts'

/** A feature that the call needs and not every endpoint of its model has, such as telling speakers apart. */
export interface Requirement {
  /** The request field that asks for it, such as `diarize`. */
  field: string
  supports(endpoint: Endpoint): boolean
  /** The error when none of these endpoints of the model has it. */
  refuse(endpoints: readonly Endpoint[]): GatewayError
}
