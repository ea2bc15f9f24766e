import { expect, test } from 'bun:test'
import { expectRemoved, startAudioVendor } from '../../../test/support/audio-vendor.ts'
import { at } from '../../../test/support/gateway.ts'

const vendor = await startAudioVendor('gladia', { path: '/gladia', hears: ['solaria-1'] })

test('Gladia is not sent Norwegian Bokmål, for which it has no code', async () => {
  expect((await vendor.transcribe('solaria-1', { language: 'nb' })).status).toBe(200)
  const [body = '{}'] = await vendor.sentTo('/v2/pre-recorded')
  expect(JSON.parse(body)).toMatchObject({ language_config: { languages: ['no'] } })
  const { status, json } = await vendor.transcribe('solaria-1', { language: 'ga' })
  expect([status, at(json, 'error.param')]).toEqual([400, 'language'])
})

test('Gladia is asked to remove what the call has left there', async () => {
  await expectRemoved(vendor, 'solaria-1')
})
