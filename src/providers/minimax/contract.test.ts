import { expect, test } from 'bun:test'
import { startAudioVendor } from '../../../test/support/audio-vendor.ts'

const vendor = await startAudioVendor('minimax', { path: '/minimax/v1', speaks: ['speech-2.8-turbo'] })

test('MiniMax’s word for an unknown voice is the caller’s fault', async () => {
  const { status, message } = await vendor.speak('speech-2.8-turbo', { voice: 'missing' })
  expect([status, message]).toEqual([400, expect.stringContaining('voice')])
})
