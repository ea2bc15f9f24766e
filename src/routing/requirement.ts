import type { Endpoint } from '../canonical/endpoint.ts'
import type { GatewayError } from '../core/errors.ts'

/** Something a call needs that not every endpoint of its model can do, such as telling speakers apart. */
export interface Requirement {
  /** The request field that asks for it, such as `diarize`. */
  field: string
  supports(endpoint: Endpoint): boolean
  /** The refusal when none of these endpoints of the model can. */
  refuse(endpoints: readonly Endpoint[]): GatewayError
}
