import { expect, test } from 'bun:test'
import { startAudioVendor } from '../../../test/support/audio-vendor.ts'
import { at } from '../../../test/support/gateway.ts'

const vendor = await startAudioVendor('revai', { path: '/revai/speechtotext/v1', hears: ['machine'] })

test('Rev AI’s 403 for spent credit is reported as such, and not as a refused credential', async () => {
  await vendor.prepare('status=402')
  const { status, json } = await vendor.transcribe('machine')
  expect([status, at(json, 'error.message')]).toEqual([
    502,
    expect.stringContaining('account with the provider has no quota left'),
  ])
})
