import { expect, test } from 'bun:test'
import { startAudioVendor } from '../../../test/support/audio-vendor.ts'

const vendor = await startAudioVendor('lmnt', { path: '/lmnt/v1', speaks: ['blizzard'] })

test('a request to LMNT names the version of its interface', async () => {
  expect(await vendor.speak('blizzard', { voice: 'leah' })).toMatchObject({ status: 200, message: '' })
})
