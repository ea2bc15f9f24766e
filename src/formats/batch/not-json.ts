import { GatewayError } from '../../core/errors.ts'
import { describePlace, findSyntaxFault, type TextPlace } from '../../json/faults.ts'

/** Where in the body a byte of the value in question lies. */
export type PlaceOf = (offset: number) => TextPlace

/** The refusal of a part of the body that is no JSON, with the place in the whole body. */
export function notJson(param: string, bytes: Uint8Array, placeOf: PlaceOf): GatewayError {
  const fault = findSyntaxFault(bytes)
  const problem = fault
    ? `is not valid JSON: ${fault.problem} (${describePlace(placeOf(fault.offset))}).`
    : 'is not text in UTF-8.'
  return new GatewayError('invalid_request', `${param} ${problem}`, { param })
}
