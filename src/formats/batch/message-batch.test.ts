import { expect, test } from 'bun:test'
import { resultLine } from './result-line.ts'
import { messageResultLine } from './message-batch.ts'

const place = { batchId: 'batch_1', item: 0, customId: 'a "quoted" id' }
const failed = (error: { type: string; message: string; param: string | null; error_type?: string }) =>
  JSON.parse(messageResultLine(resultLine(place, { response: null, error })).toString()) as unknown

test('a message keeps its bytes', () => {
  const body = Buffer.from('{"type":"message", "content":[{"text":"\\u00e4 1.0"}],"error":null}')
  const line = resultLine(place, { response: { status_code: 200, request_id: null, body }, error: null })
  const converted = messageResultLine(line).toString()
  expect(converted).toBe(
    `{"custom_id":"a \\"quoted\\" id","result":{"type":"succeeded","message":${body.toString()}}}\n`,
  )
})

test('what did not run is canceled or expired, and what failed has Anthropic’s error', () => {
  const closed = { message: 'x', param: null }
  expect(failed({ type: 'batch_cancelled', ...closed })).toEqual({
    custom_id: place.customId,
    result: { type: 'canceled' },
  })
  expect(failed({ type: 'batch_expired', ...closed })).toEqual({
    custom_id: place.customId,
    result: { type: 'expired' },
  })
  const limited = {
    type: 'upstream_rate_limited',
    message: 'Slow down.',
    param: null,
    error_type: 'rate_limit_exceeded',
  }
  expect(failed(limited)).toEqual({
    custom_id: place.customId,
    result: {
      type: 'errored',
      error: { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' }, request_id: null },
    },
  })
})
