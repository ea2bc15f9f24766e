import { expect, test } from 'bun:test'
import { expectRemoved, startAudioVendor } from '../../../test/support/audio-vendor.ts'
import { at } from '../../../test/support/gateway.ts'

const vendor = await startAudioVendor('speechmatics', {
  path: '/speechmatics/v2',
  hears: ['enhanced', 'melia-1'],
})

const configSent = async () =>
  JSON.parse((await vendor.fieldsSentTo('/jobs/'))['config'] ?? '{}') as Record<string, object>

test('Speechmatics gets its own code for Mandarin, and the caller gets the requested code back', async () => {
  const asked = { language: 'zh', response_format: 'verbose_json' }
  const { status, json } = await vendor.transcribe('enhanced', asked)
  expect([status, json['language']]).toEqual([200, 'zh'])
  expect((await configSent())['transcription_config']).toMatchObject({ language: 'cmn' })
})

test('Melia is asked for several languages at once, and hears the caller’s first', async () => {
  expect((await vendor.transcribe('melia-1')).status).toBe(200)
  expect((await configSent())['transcription_config']).toMatchObject({ language: 'multi' })
  expect((await vendor.transcribe('melia-1', { language: 'zh' })).status).toBe(200)
  expect((await configSent())['transcription_config']).toMatchObject({
    language: 'multi',
    language_hints: ['cmn'],
  })
})

test('Melia has no dictionary, and refuses key terms by name', async () => {
  const { status, json } = await vendor.transcribe('melia-1', { keyterms: ['head race'] })
  expect([status, at(json, 'error.message')]).toEqual([
    400,
    expect.stringContaining('The selected model does not support keyterms'),
  ])
  expect((await vendor.transcribe('enhanced', { keyterms: ['head race'] })).status).toBe(200)
})

test('Speechmatics is asked to remove what the call has left there', async () => {
  await expectRemoved(vendor, 'enhanced')
})
