import { expect, test } from 'bun:test'
import { FileLock } from '../../src/storage/sqlite/file-lock.ts'
import { at, customProvider, sandboxProvider, startTestGateway, toneWav, until } from '../support/gateway.ts'
import {
  answerTogether,
  refusedKinds,
  refusedModels,
  refusedRequest,
  shownTranscript,
  shownTranscriptModel,
  translatedKinds,
} from '../support/refused-calls.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const kinds = [...refusedKinds, ...translatedKinds, shownTranscript] as const
/** Calls of which the caller is shown a part before the charge; they are paid. */
const shownKinds: readonly string[] = ['part', shownTranscript]

// The time that a caller waits for its charge is real here; everything waits it out at once.
test('who was refused and shown nothing pays nothing, and who was shown a part pays', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-refused-'))
  const upstream = startScriptedUpstream()
  const gateway = await startTestGateway({
    folder,
    credits: '5',
    providers: () => [
      customProvider(upstream.url, refusedModels),
      sandboxProvider(upstream.url, {
        preset: 'openai',
        base_url: upstream.url,
        discover: false,
        models: [shownTranscriptModel],
      }),
    ],
  })
  const lock = new FileLock(join(folder, 'headrace.db.lock'))
  try {
    const ready = Promise.withResolvers<void>()
    const isAsked = answerTogether(upstream, kinds.length, ready.promise)
    const asking = kinds.map(async (kind) => {
      const { path, body } = refusedRequest(kind, toneWav(1))
      const answer = await gateway.post(path, body)
      return { kind, ...answer }
    })
    await isAsked
    // Nobody else writes until it is given back, as on a disk that takes nothing.
    lock.acquire()
    ready.resolve()
    const answers = await Promise.all(asking)
    lock.release()
    for (const { kind, status, headers, text } of answers) {
      const isStream = kind === 'begun' || shownKinds.includes(kind)
      expect({ kind, status, retryAfter: headers.get('retry-after') }).toEqual({
        kind,
        status: isStream ? 200 : 503,
        retryAfter: isStream ? null : '5',
      })
      expect(text.includes('Hello'), kind).toBe(shownKinds.includes(kind))
      if (kind === shownTranscript) expect(text).not.toContain('transcript.text.done')
      else if (isStream) expect(text).toContain('"finish_reason":"error"')
    }
    await until(
      () => gateway.get('//metrics'),
      ({ text }) => /^headrace_captures_queued 0$/m.test(text),
    )
    const { json } = await gateway.get('/credits')
    // 15 tokens at 1,000 credits a million, and a second of audio at one credit a minute.
    expect(at(json, 'data.total_usage')).toBeCloseTo(0.015 + 1 / 60, 8)
    const { text } = await gateway.get('//metrics')
    expect(text).toContain(`headrace_lost_calls ${kinds.length - shownKinds.length}`)
  } finally {
    lock.close()
    await gateway.stop()
    await upstream.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
