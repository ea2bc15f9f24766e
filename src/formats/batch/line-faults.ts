import type { LineFault } from '../../canonical/batch.ts'
import type { GatewayError } from '../../core/errors.ts'

/** Faults of lines that a failed batch lists. */
export const lineFaultsMax = 50

/** The lines of a file cannot be a batch: the batch that was made of it has failed, and lists these faults. */
export class LinesRefused extends Error {
  readonly faults: readonly LineFault[]
  /** As many members of the batch as are known. */
  readonly model: string

  constructor(faults: readonly LineFault[], model: string) {
    super('the lines of a file were refused')
    this.faults = faults
    this.model = model
  }
}

/** The refusal of an item as a fault of its line. */
export function lineFaultOf(error: GatewayError, place: { index: number; line: number }): LineFault {
  const item = `requests[${place.index}]`
  const param = error.param === null || error.param === item ? null : error.param.replace(`${item}.`, '')
  const message = error.message.replaceAll(`${item}.`, '').replaceAll(item, 'The line')
  return { code: codeOf(error, param), message, param, line: place.line }
}

function codeOf({ type, message }: GatewayError, param: string | null): string {
  if (param === null) return 'invalid_json_line'
  if (param === 'custom_id' && type === 'unprocessable' && message.includes('is a duplicate'))
    return 'duplicate_custom_id'
  if (param === 'url') return 'mismatched_url'
  if (param === 'body.model') return 'model_mismatch'
  return 'invalid_request'
}

/** The refusal of the model that the lines name. */
export function modelFaultOf({ message }: GatewayError): LineFault {
  return { code: 'model_not_found', message, param: 'body.model', line: 1 }
}

/** A file without a line. */
export const emptyFileFault: LineFault = {
  code: 'empty_file',
  message: 'The input file is empty. It must have at least one line.',
  param: null,
  line: null,
}
