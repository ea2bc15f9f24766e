import { AwsV4Signer } from 'aws4fetch'
import type { SigningKeys } from '../canonical/endpoint.ts'

/** What is signed of a request besides its time; `headers` are signed as far as the signature covers such headers. */
export interface SignedParts {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body: Uint8Array<ArrayBuffer> | string | null
}

/** Keys derived from secrets, for a day, a region and a service each. */
const derived = new Map<string, ArrayBuffer>()
const derivedMax = 1_000

/** The headers of Amazon's Signature Version 4, without `host`. */
export async function signedHeaders(
  { method, url, headers, body }: SignedParts,
  { accessKeyId, secret, sessionToken, service, region }: SigningKeys,
  nowMs: number,
): Promise<Record<string, string>> {
  if (derived.size > derivedMax) derived.clear()
  const signer = new AwsV4Signer({
    method,
    url,
    headers,
    ...(body === null ? {} : { body }),
    accessKeyId,
    secretAccessKey: secret,
    ...(sessionToken === null ? {} : { sessionToken }),
    service,
    region,
    cache: derived,
    datetime: new Date(nowMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
  })
  const { headers: signed } = await signer.sign()
  const added: Record<string, string> = {}
  for (const [name, value] of signed) if (name !== 'host') added[name] = value
  return added
}
