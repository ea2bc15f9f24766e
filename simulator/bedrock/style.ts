import type { IncomingHttpHeaders } from 'node:http'
import { type ApiStyle, bearerKeyOf, type HeaderSubject } from '../api-style.ts'
import { ApiError } from '../errors.ts'
import type { ErrorFault, ErrorKind } from '../faults.ts'
import { lettersOf } from '../random.ts'

/** Bedrock's classes of errors by status, and their texts when nothing more is known. */
const usual: Record<number, { type: string; message: string }> = {
  400: { type: 'ValidationException', message: 'The request is not valid.' },
  403: { type: 'AccessDeniedException', message: 'You are not authorized to perform this action.' },
  404: { type: 'ResourceNotFoundException', message: 'Could not find the resource.' },
  408: { type: 'ModelTimeoutException', message: 'The model took too long.' },
  424: { type: 'ModelErrorException', message: 'The model failed.' },
  429: { type: 'ThrottlingException', message: 'Too many requests, please wait before trying again.' },
  500: { type: 'InternalServerException', message: 'The server had an internal error.' },
  503: { type: 'ServiceUnavailableException', message: 'The service is unavailable.' },
}

const ofKind: Record<ErrorKind, { status: number; message: string; type?: string }> = {
  overloaded: { status: 503, message: 'Model is not ready for inference.' },
  context_length: { status: 400, message: 'Input is too long for requested model.' },
  // Bedrock tells a used-up quota with 400.
  insufficient_quota: {
    status: 400,
    type: 'ServiceQuotaExceededException',
    message: 'Your account has reached its quota.',
  },
}

function bedrockErrorOf(fault: ErrorFault): ApiError {
  const kind = fault.kind === undefined ? {} : ofKind[fault.kind]
  const { status, message, type }: { status?: number; message?: string; type?: string } = kind
  const told = status ?? fault.status ?? 500
  const known = usual[told] ?? {
    type: told >= 500 ? 'InternalServerException' : 'ValidationException',
    message: `The request was refused with status ${told}.`,
  }
  return new ApiError({
    status: told,
    type: fault.type ?? type ?? known.type,
    message: fault.message ?? message ?? known.message,
  })
}

const signature =
  /^AWS4-HMAC-SHA256 Credential=([A-Z0-9a-z]+)\/(\d{8})\/([a-z0-9-]+)\/(bedrock|bedrock-mantle)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}$/

/** Either a key as bearer, or a signature of keys. What was signed is checked by the proofs, against Amazon's own tools. */
function authenticate({ authorization, 'x-amz-date': date, host }: IncomingHttpHeaders): void {
  const key = bearerKeyOf(authorization)
  if (key !== null && !key.startsWith('bad-key')) return
  const [, id = '', day, , , signed = ''] = signature.exec(authorization ?? '') ?? []
  const isGood =
    id !== '' &&
    !id.startsWith('AKIABAD') &&
    typeof date === 'string' &&
    date.startsWith(day ?? '-') &&
    host !== undefined &&
    signed.split(';').includes('host') &&
    signed.split(';').includes('x-amz-date')
  if (isGood) return
  const message =
    authorization === undefined
      ? 'Missing Authentication Token'
      : 'The security token included in the request is invalid.'
  throw new ApiError({ status: 403, type: 'UnrecognizedClientException', message })
}

function usualHeaders({ key, elapsedMs }: HeaderSubject): Record<string, string> {
  return {
    'x-amzn-requestid': lettersOf(`request ${key}`, 32),
    'x-amzn-bedrock-invocation-latency': String(Math.round(elapsedMs)),
  }
}

/** Converse, as Bedrock's runtime serves it. */
export const bedrockStyle: ApiStyle = {
  authenticate,
  errorBody: ({ message }) => JSON.stringify({ message }),
  errorOf: bedrockErrorOf,
  errorHeaders: (error) => ({
    'x-amzn-errortype': `${errorClassOf(error)}:http://internal.amazon.com/coral/`,
  }),
  headers: usualHeaders,
}

/** The class of an error, which stands in a header. */
function errorClassOf({ type, status }: ApiError): string {
  return type.endsWith('Exception') ? type : (usual[status]?.type ?? 'ValidationException')
}
