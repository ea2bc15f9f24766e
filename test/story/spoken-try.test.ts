import { afterAll, expect, test } from 'bun:test'
import { whyNoSpokenSound } from '../support/spoken-sound.ts'
import { prepareGateway } from './real-gateway.ts'

const gateway = prepareGateway()
afterAll(() => gateway.remove())

const missing = whyNoSpokenSound()
if (missing !== null) console.warn(`skipped: ${missing}`)

test.skipIf(missing !== null)('headrace try transcribes the sentence that it made as speech', async () => {
  await gateway.start()
  const { output } = await gateway.run(['try'])
  const words = (line: RegExp) =>
    line
      .exec(output)?.[1]
      ?.toLowerCase()
      .replaceAll(/[^a-z ]/g, '')
  const said = words(/said +(.+)/) ?? ''
  expect(said.split(' ').length).toBeGreaterThan(3)
  expect(words(/heard +(.+)/)).toBe(said)
})
