import { describe, expect, test } from 'bun:test'
import type { SpeechAdapter } from '../canonical/audio.ts'
import { AttemptFailed } from '../canonical/attempt-failed.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { leastAudio } from '../catalog/capabilities.ts'
import { atOnce } from '../core/turns.ts'
import { decodeSpeechJson } from '../formats/speech/decode-speech.ts'
import { testContext, testEndpoint } from '../formats/text/testing.ts'
import { sound, type SpeechReply } from '../../test/support/provider-rows.ts'
import { rowsOf } from '../../test/support/rows-of-providers.ts'
import { presetOf } from './deployments.ts'

// The answers of each provider, and the values read from them: sound, its format, and the billed amount. The bodies are
// written by hand from the documentation.

function adapterOf(preset: string): SpeechAdapter {
  const { speech } = presetOf(preset).adapters
  if (speech === undefined) throw new Error(`${preset} speaks nothing`)
  return speech
}

function readerOf(
  adapter: SpeechAdapter,
  { contentType = 'audio/mpeg', headers = {} }: Omit<SpeechReply, 'body'>,
) {
  const wire = { model: 'a/b', input: 'Hello', voice: 'v', response_format: 'pcm' }
  const call = atOnce(
    decodeSpeechJson(new TextEncoder().encode(JSON.stringify(wire)), {
      sessionId: null,
      accept: null,
    }),
  )
  const endpoint: Endpoint = { ...testEndpoint('aura-2', 'acme'), modality: 'speech', audio: leastAudio }
  const step = adapter.first({ call, endpoint, context: testContext })
  if (step.type !== 'stream') throw new Error('expected a stream')
  const context = { ...testContext, parameterNames: call.parameters }
  return step.open(context, new Headers({ 'content-type': contentType, ...headers }))
}

function read(adapter: SpeechAdapter, reply: SpeechReply) {
  const reader = readerOf(adapter, reply)
  const heard = Buffer.concat([reader.push(Buffer.from(reply.body)), reader.end()]).toString('latin1')
  return { heard, output: reader.output, billed: reader.billed }
}

test.each(rowsOf('speechReplies').map((row) => [row.name, row] as const))(
  '%s',
  (_, { preset, reply, output, billed }) => {
    expect(read(adapterOf(preset), reply)).toEqual({ heard: sound, output, billed })
  },
)

describe('a failure in an answer with a status of success', () => {
  test.each(rowsOf('speechFailures').map((row) => [row.name, row] as const))(
    '%s',
    (_, { preset, reply, type, param = null, fault = false }) => {
      let thrown: unknown
      try {
        read(adapterOf(preset), reply)
      } catch (error) {
        thrown = error
      }
      if (!(thrown instanceof AttemptFailed)) throw new Error('expected a failed attempt', { cause: thrown })
      const { error, credentialFault } = thrown.failure
      expect([error.type, error.param, credentialFault]).toEqual([type, param, fault])
    },
  )
})

test.each(rowsOf('speechCutOff').map((row) => [row.preset, row] as const))(
  '%s that ends before its last event has broken off',
  (preset, { reply }) => {
    expect(() => read(adapterOf(preset), reply)).toThrow('before it was whole')
  },
)
