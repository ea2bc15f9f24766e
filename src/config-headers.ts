import { z } from 'zod'

/** What belongs to the request itself and would break it. */
const ownHeaders = new Set(['connection', 'content-length', 'content-type', 'host', 'transfer-encoding'])
/** The name of a header that a configuration may set. */
export const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/, { error: 'must be the name of a header' })
  .refine((name) => !ownHeaders.has(name.toLowerCase()), { error: 'is a header that the gateway sets' })
/** Its value. Messages contain no values, because any value may be a secret. */
export const headerValue = z.string().regex(/^[\x20-\x7e\xa0-\xff]+$/, {
  error: 'must be of Latin letters, digits and signs, without line breaks',
})
