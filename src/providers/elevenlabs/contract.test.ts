import { expect, test } from 'bun:test'
import { expectRemoved, startAudioVendor } from '../../../test/support/audio-vendor.ts'

const vendor = await startAudioVendor('elevenlabs', { path: '/elevenlabs/v1', hears: ['scribe_v2'] })

test('ElevenLabs keeps nothing of a call that wants no retention, so that it is asked to remove nothing', async () => {
  await vendor.prepare()
  expect((await vendor.transcribe('scribe_v2', { provider: { zdr: true } })).status).toBe(200)
  await vendor.transcribe('scribe_v2')
  await vendor.untilRemoved()
  const { last_requests: requests } = await vendor.counters()
  expect((requests as { method: string }[]).map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE'])
})

test('ElevenLabs is asked to remove what the call has left there', async () => {
  await expectRemoved(vendor, 'scribe_v2')
})
