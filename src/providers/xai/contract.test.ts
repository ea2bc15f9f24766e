import { expect, test } from 'bun:test'
import { startAudioVendor } from '../../../test/support/audio-vendor.ts'
import { at } from '../../../test/support/gateway.ts'

const vendor = await startAudioVendor('xai', { path: '/xai/v1', hears: ['grok-stt'], speaks: ['grok-tts'] })

const bodySpoken = async () => JSON.parse((await vendor.sentTo('/tts'))[0] ?? '{}') as object

test('xAI is sent the language that it requires, and `auto` when the caller names none', async () => {
  expect(await vendor.speak('grok-tts', { voice: 'eve' })).toMatchObject({ status: 200, message: '' })
  expect(await bodySpoken()).toMatchObject({ language: 'auto' })
  const own = { provider: { options: { xai: { language: 'pt-BR' } } } }
  expect((await vendor.speak('grok-tts', { voice: 'eve', ...own })).status).toBe(200)
  expect(await bodySpoken()).toMatchObject({ language: 'pt-BR' })
  const none = { provider: { options: { xai: { language: null } } } }
  expect((await vendor.speak('grok-tts', { voice: 'eve', ...none })).status).toBe(200)
})

test('xAI is sent voices that a team created, and its own voices in upper or lower case', async () => {
  for (const [asked, sent] of [
    ['nlbqfwie', 'nlbqfwie'],
    ['EVE', 'eve'],
  ]) {
    expect(await vendor.speak('grok-tts', { voice: asked })).toMatchObject({ status: 200, message: '' })
    expect(await bodySpoken()).toMatchObject({ voice_id: sent })
  }
  expect((await vendor.speak('grok-tts', { voice: 'missing-1' })).status).toBe(400)
})

test('xAI hears with the model that the caller’s own options name', async () => {
  const { status, json } = await vendor.transcribe('grok-stt', {
    provider: { options: { xai: { model: 'another' } } },
  })
  expect([status, at(json, 'headrace_metadata.dropped')]).toEqual([200, undefined])
  expect(await vendor.fieldsSentTo('/stt')).toMatchObject({ model: 'another' })
  await vendor.transcribe('grok-stt')
  expect(await vendor.fieldsSentTo('/stt')).not.toHaveProperty('model')
})

test('xAI gives the speaker of every word', async () => {
  const { status, json } = await vendor.transcribe('grok-stt', {
    response_format: 'verbose_json',
    diarize: true,
  })
  expect(status).toBe(200)
  const words = json['words'] as { speaker: number; speaker_label: string }[]
  expect(words.map(({ speaker }) => speaker)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
})
