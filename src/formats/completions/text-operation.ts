import { contractConvention } from '../client-convention.ts'
import type { TextOperation } from '../text/text-operation-row.ts'
import { decodeCompletionsRequest } from './read-request.ts'
import { describedCompletions } from './request-schema.ts'
import { completionsFrames } from './write-answer.ts'

/** What execution and HTTP need to know of legacy `POST /completions`. */
export const completions: TextOperation = {
  decode: decodeCompletionsRequest,
  stream: completionsFrames,
  convention: contractConvention,
  bulk: null,
  tokenCount: null,
  outputLimit: 'max_tokens',
  cacheKey: null,
  hasToldParameters: false,
  described: describedCompletions,
}
