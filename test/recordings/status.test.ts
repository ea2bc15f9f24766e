import { expect, test } from 'bun:test'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { presets } from '../../src/providers/registry.ts'
import { recordingsRoot } from './outside.ts'
import { listReplies, presetsOfRecordings, whyNoRecordings } from './recorded.ts'

const recorded = presets.filter(({ status }) => status === 'recorded').map(({ slug }) => slug)

/** Presets whose replies other projects recorded, by the first words of the files that `clouds` and `outside` replay. */
const outside: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'bedrock-x',
  'amazon-bedrock-mantle': 'bedrock-mantle-x',
  cohere: 'cohere-x',
}

test('providers that are called supported are those whose replies are replayed', () => {
  expect(recorded.toSorted()).toEqual([...presetsOfRecordings(), ...Object.keys(outside)].toSorted())
})

const reason = whyNoRecordings()
if (reason !== null) console.log(reason)

/** Whether the replies of a preset are streams, each time. */
function kindsOf(slug: string): Set<boolean> {
  const begin = outside[slug]
  if (begin === undefined)
    return new Set(listReplies().flatMap(({ preset, isStream }) => (preset === slug ? [isStream] : [])))
  const files = globSync(join(recordingsRoot, 'outside', `${begin}[0-9]*.json`))
  const exchanges = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)
  return new Set(exchanges.map(({ response }) => response === undefined))
}

test.if(reason === null)('each of them has a whole reply and a stream among those', () => {
  for (const slug of recorded) {
    const kinds = kindsOf(slug)
    expect<unknown>([slug, kinds.has(false), kinds.has(true)]).toEqual([slug, true, true])
  }
})
