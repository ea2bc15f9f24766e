import { expect, test } from 'bun:test'
import { signatureOf } from './signature.ts'

test('an event is signed as the contract writes it', () => {
  // printf '1795238981,{"type":"batch.completed"}' | openssl dgst -sha256 -hmac whsec_test
  const digest = '1deb3a31ea4a432686206c0c8e4b21ce27387606c166dcf64bb03d817009dbcc'
  expect(signatureOf('{"type":"batch.completed"}', 'whsec_test', 1_795_238_981_999)).toBe(
    `t=1795238981,v1=${digest}`,
  )
})
