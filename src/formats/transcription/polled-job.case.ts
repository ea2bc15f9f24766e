import { expect } from 'bun:test'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { RemoteAudio, TranscriptionAdapter } from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { CallAt, Exchange, Step } from '../../canonical/steps.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../text/testing.ts'
import { testTranscription } from './transcription-testing.ts'

/** A recording at a URL that the provider can fetch. */
export const remote: RemoteAudio = {
  url: 'https://files.example/tides.mp3?sig=1',
  field: 'input_audio.url',
  statedFormat: null,
  format: 'mp3',
  fileName: 'audio.mp3',
  contentType: 'audio/mpeg',
  sizeBytes: 0,
  open: () => {
    throw new Error('nobody fetches it here')
  },
}

/** A call for a recording at a URL, at the vendor with this slug. */
export function askedFor(
  preset: string,
  changes: Partial<TranscriptionCall> = {},
): CallAt<TranscriptionCall> {
  const base = testEndpoint('model')
  const deployment = { ...base.deployment, id: preset, preset, provider: preset }
  const audio = { ...leastAudio, url: true }
  const endpoint: Endpoint = { ...base, deployment, modality: 'transcription', audio }
  return { call: testTranscription({ audio: remote, ...changes }), endpoint, context: testContext }
}

/** A vendor's answer, as JSON. */
export const reply = (value: unknown) => ({
  headers: new Headers(),
  bytes: new TextEncoder().encode(JSON.stringify(value)),
})

type AnyStep = Step<unknown, unknown, unknown>

/** The request of a step. Throws for any other step. */
export function sentBy(step: AnyStep): Exchange {
  if (step.type !== 'send') throw new Error(`expected a request, not ${step.type}`)
  return step.exchange
}

/** Runs an adapter's steps with these replies. */
export function walk(
  adapter: TranscriptionAdapter,
  asked: CallAt<TranscriptionCall>,
  replies: readonly unknown[],
): AnyStep[] {
  const steps: AnyStep[] = [adapter.first(asked)]
  for (const told of replies) {
    const last = steps.at(-1)
    if (last?.type !== 'send') throw new Error('expected a request')
    steps.push(adapter.next(last.state, reply(told), asked))
  }
  return steps
}

/** The failure of the attempt that `run` throws. Throws any other error, and throws when `run` succeeds. */
export function failureOf(run: () => unknown) {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof AttemptFailed) return thrown.failure
    throw thrown
  }
  throw new Error('expected a failure')
}

/** Fails unless the adapter refuses a job whose id would lead polls to another path. */
export function expectNamesChecked(adapter: TranscriptionAdapter, preset: string): void {
  for (const id of ['..', 'x'.repeat(257)])
    expect(() => walk(adapter, askedFor(preset), [{ id }])).toThrow('without what its documents promise')
}
