import { expect, test } from 'bun:test'
import { startAudioVendor } from '../../../test/support/audio-vendor.ts'

const vendor = await startAudioVendor('together', {
  path: '/together/v1',
  hears: ['openai/whisper-large-v3'],
})

test('Together is asked for times as its clients write lists, with brackets', async () => {
  const { status, json } = await vendor.transcribe('whisper-large-v3', {
    response_format: 'verbose_json',
    timestamp_granularities: ['word'],
  })
  expect([status, (json['words'] as unknown[] | undefined)?.length]).toEqual([200, 12])
})
