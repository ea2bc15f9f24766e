import { contractConvention } from '../client-convention.ts'
import type { TextOperation } from '../text/text-operation-row.ts'
import { decodeRerankRequest } from './read-request.ts'
import { describedRerank } from './request-schema.ts'

/** What execution and HTTP need to know of `POST /rerank`. */
export const rerank: TextOperation = {
  decode: decodeRerankRequest,
  stream: null,
  convention: contractConvention,
  bulk: null,
  tokenCount: null,
  outputLimit: null,
  cacheKey: null,
  hasToldParameters: false,
  described: describedRerank,
}
