import { expect, test } from 'bun:test'
import { startAudioVendor } from '../../../test/support/audio-vendor.ts'

const vendor = await startAudioVendor('google-ai-studio', {
  path: '/v1beta',
  speaks: ['gemini-3.1-flash-tts-preview'],
})

test('a voice of Google is found whatever its case', async () => {
  const { status } = await vendor.speak('gemini-3.1-flash-tts-preview', { voice: 'kore' })
  expect(status).toBe(200)
  const [body = ''] = await vendor.sentTo(':streamGenerateContent')
  expect(body).toContain('"voiceName":"Kore"')
})
