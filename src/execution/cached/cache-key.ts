import { createHash, type Hash } from 'node:crypto'
import type { TextCall } from '../../canonical/call.ts'
import type { Principal } from '../../canonical/principal.ts'
import { isSpace, toBuffer } from '../../json/bytes.ts'
import { skipString } from '../../json/scan.ts'

const quote = 0x22

/**
 * Under which an answer is kept: the contract's API key, model, endpoint, streaming mode and body, whose order of members
 * counts and whose white space does not. The organization is in it, and so are the betas of a header, which change the answer.
 */
export function cacheKeyOf(
  { operation, model, stream, betas }: TextCall,
  { organizationId, keyId }: Pick<Principal, 'organizationId' | 'keyId'>,
  body: Uint8Array,
): string {
  const hash = createHash('sha256')
  hash.update(JSON.stringify([organizationId, keyId, operation, model, stream, betas ?? null]))
  hashWithoutSpace(hash, toBuffer(body))
  return hash.digest('base64url')
}

/** Feeds JSON without the white space between its tokens. Linear: texts are skipped from quote to quote. */
function hashWithoutSpace(hash: Hash, body: Buffer): void {
  let start = 0
  let position = 0
  while (position < body.length) {
    if (body[position] === quote) position = skipString(body, position)
    else if (isSpace(body[position])) {
      hash.update(body.subarray(start, position))
      while (position < body.length && isSpace(body[position])) position += 1
      start = position
    } else position += 1
  }
  hash.update(body.subarray(start))
}
