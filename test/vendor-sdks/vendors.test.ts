import { expect, test } from 'bun:test'
import { presets } from '../../src/providers/registry.ts'
import { vendors } from './vendors.ts'
import { withoutSdk } from './without-sdk.ts'

test('every vendor is compared with its SDK, or a reason says why not', () => {
  const compared = vendors.map(({ slug }) => slug)
  const named = [...compared, ...Object.keys(withoutSdk)].toSorted()
  const hosted = presets.filter(({ isLocal }) => !isLocal).map(({ slug }) => slug)
  expect(named).toEqual(hosted.toSorted())
})
