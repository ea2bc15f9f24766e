import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { leastAudio } from '../../../src/catalog/capabilities.ts'
import type { Endpoint } from '../../../src/canonical/endpoint.ts'
import { testCharge, testContext, testEndpoint } from '../../../src/formats/text/testing.ts'
import { renderTranscription } from '../../../src/formats/transcription/render-transcription.ts'
import { testTranscription } from '../../../src/formats/transcription/transcription-testing.ts'
import { presets } from '../../../src/providers/registry.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { type Case, floorOf } from './campaign.ts'
import { threadMs } from './thread-time.ts'

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasLists = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isObject) : isObject(value) && Object.values(value).some(hasLists)

/** Whether it has JSON as a text. */
const hasWritten = (value: unknown): boolean =>
  isObject(value) && Object.values(value).some((each) => typeof each === 'string' && each.startsWith('{'))

const textNames = new Set(['text', 'transcript', 'full_transcript'])

/** A provider's sample with so many words or segments: the innermost lists of it are repeated, and its text with them. */
function grown(value: unknown, count: number, name = ''): unknown {
  // One model writes its transcript as JSON within its answer.
  if (typeof value === 'string' && value.startsWith('{'))
    return JSON.stringify(grown(JSON.parse(value), count))
  if (typeof value === 'string')
    return textNames.has(name) && value.length > 12 ? `${value} `.repeat(count >> 2) : value
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, grown(each, count, key)]))
  if (!Array.isArray(value) || !value.some(isObject)) return value
  if (value.some(hasLists) || value.some(hasWritten))
    return value.slice(0, 1).map((each) => grown(each, count))
  return Array.from({ length: count }, (_, index) => value[index % value.length])
}

/** Transcripts of every provider that transcribes. */
export function transcriptCases(): Case[] {
  return presets.flatMap(({ slug, adapters: { transcription: adapter } }) => {
    if (adapter === undefined) return []
    const folder = join(rootFolder, 'src/providers', slug, 'samples')
    const files = readdirSync(folder).filter((file) => /^transcription\.\d\.json$/.test(file))
    const earlier = files.toSorted().map((file) => new Uint8Array(readFileSync(join(folder, file))))
    const sample: unknown = JSON.parse(readFileSync(join(folder, 'transcription.json'), 'utf8'))
    return [false, true].map((diarize) => ({
      name: `words of ${slug}${diarize ? ', with speakers' : ''}`,
      workOf(count: number) {
        const json = JSON.stringify(grown(sample, count))
        const last = new TextEncoder().encode(json)
        const base = testEndpoint('up', slug)
        const deployment = { ...base.deployment, preset: slug }
        const audio = { ...leastAudio, url: true }
        const endpoint: Endpoint = { ...base, deployment, modality: 'transcription', audio }
        const call = testTranscription({
          responseFormat: 'verbose_json',
          granularities: ['word', 'segment'],
          diarize,
        })
        const run = () => {
          const turns: number[] = []
          const asked = { call, endpoint, context: testContext }
          let step = adapter.first(asked)
          for (const bytes of [...earlier, last]) {
            if (step.type !== 'send') break
            const before = threadMs()
            step = adapter.next(step.state, { headers: new Headers(), bytes }, asked)
            turns.push(threadMs() - before)
          }
          if (step.type !== 'answer') throw new Error(`${slug} has not answered`)
          const before = threadMs()
          renderTranscription({ transcription: step.answer, call, charge: testCharge, media: 'json' })
          turns.push(threadMs() - before)
          return turns
        }
        return { run, floorMs: () => floorOf(json) }
      },
    }))
  })
}
