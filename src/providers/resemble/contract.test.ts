import { expect, test } from 'bun:test'
import { startAudioVendor } from '../../../test/support/audio-vendor.ts'

const vendor = await startAudioVendor('resemble', { path: '/resemble', speaks: ['chatterbox-turbo'] })

test('Resemble streams at most 2,000 characters, and is not asked for more', async () => {
  const voice = '55592656'
  expect((await vendor.speak('chatterbox-turbo', { voice, input: 'x'.repeat(2_000) })).status).toBe(200)
  const asked = (await vendor.sentTo('/stream')).length
  const longer = await vendor.speak('chatterbox-turbo', { voice, input: 'x'.repeat(2_001) })
  expect(longer).toMatchObject({ status: 400, message: expect.stringContaining('more than the 2000') })
  expect((await vendor.sentTo('/stream')).length).toBe(asked)
})
