import { StorageFailure } from '../database.ts'

/** The server refused a request. `code` is the server's own word for the reason. */
export class S3Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(`${status} ${code}`)
    this.name = 'S3Refusal'
    this.status = status
    this.code = code
  }
}

/** Codes of a 404 that say that there is no such object or upload; the last is that of an answer without a code. */
const missingCodes: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchUpload', 'NotFound', '404'])

/** Whether a 404 means that the object or the upload is not there, and not the bucket or the key's owner. */
export function isMissing(code: string): boolean {
  return missingCodes.has(code)
}

/** Codes of failures that pass, besides those that their status tells. */
const passingCodes: ReadonlySet<string> = new Set([
  'RequestTimeout',
  'SlowDown',
  'InternalError',
  'OperationAborted',
  'ConditionalRequestConflict',
])
const passingStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

/** Whether the same request may succeed a moment later. */
export function isPassing({ status, code }: Pick<S3Refusal, 'status' | 'code'>): boolean {
  return passingStatuses.has(status) || passingCodes.has(code)
}

/** What an operator checks; by the server's code. */
const remedies: Readonly<Record<string, string>> = {
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY is not the secret of AWS_ACCESS_KEY_ID: set the right one',
  InvalidAccessKeyId: 'the server does not know AWS_ACCESS_KEY_ID: set a key of this server',
  AccessDenied:
    'the key AWS_ACCESS_KEY_ID may not do this: let it get, put and delete objects, list the bucket of BLOB_URL, and list and abort its multipart uploads',
  ExpiredToken: 'AWS_SESSION_TOKEN has expired: set new keys and start again',
  InvalidToken: 'AWS_SESSION_TOKEN is wrong: set it together with its keys, or leave it out',
  NoSuchBucket: 'there is no such bucket: make it, or name another one in BLOB_URL',
  RequestTimeTooSkewed: "this machine's clock is wrong: set it by a time server (NTP)",
  AuthorizationHeaderMalformed: 'the region is not the bucket’s: add region=… to BLOB_URL',
  PermanentRedirect: 'the region is not the bucket’s: add region=… to BLOB_URL',
}

/** Servers have words of their own for a key that they do not know. */
const unknownCode =
  'check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and the endpoint and the region of BLOB_URL'
const unreachable = 'check that the server of BLOB_URL runs and that this machine reaches it'

/** The failure as the log and an operator see it. `doing` names the request; neither has a secret. */
export function toStorageFailure(thrown: unknown, doing: string): StorageFailure {
  if (thrown instanceof StorageFailure) return thrown
  if (thrown instanceof S3Refusal) {
    const remedy = remedies[thrown.code] ?? (isPassing(thrown) ? unreachable : unknownCode)
    return new StorageFailure(`${doing}: the server answered ${thrown.message}`, {
      code: thrown.code,
      remedy,
      cause: thrown,
    })
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new StorageFailure(`${doing}: no answer (${message})`, { remedy: unreachable, cause: thrown })
}
