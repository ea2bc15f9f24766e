import { expect, test } from 'bun:test'
import { presets } from '../../src/providers/registry.ts'
import { listReplies, presetsOfRecordings, whyNoRecordings } from './recorded.ts'

const recorded = presets.filter(({ status }) => status === 'recorded').map(({ slug }) => slug)

test('providers that are called supported are those whose replies are replayed', () => {
  expect(recorded.toSorted()).toEqual(presetsOfRecordings())
})

const reason = whyNoRecordings()
if (reason !== null) console.log(reason)

test.if(reason === null)('each of them has a whole reply and a stream among those', () => {
  for (const slug of recorded) {
    const kinds = new Set(
      listReplies().flatMap(({ preset, isStream }) => (preset === slug ? [isStream] : [])),
    )
    expect<unknown>([slug, kinds.has(false), kinds.has(true)]).toEqual([slug, true, true])
  }
})
