import { expect, test } from 'bun:test'
import { presets } from '../../src/providers/registry.ts'
import { vendors } from './vendors.ts'
import { rowsBySlug } from '../support/rows-of-providers.ts'

test('every vendor is compared with its SDK, or a reason says why not', () => {
  const withoutSdk = [...rowsBySlug].flatMap(([slug, rows]) => (rows.withoutSdk === undefined ? [] : slug))
  const compared = vendors.map(({ slug }) => slug)
  const named = [...compared, ...withoutSdk].toSorted()
  const hosted = presets.filter(({ isLocal }) => !isLocal).map(({ slug }) => slug)
  expect(named).toEqual(hosted.toSorted())
})
