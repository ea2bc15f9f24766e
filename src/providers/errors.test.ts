import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { textAdapter } from '../formats/text/adapter.ts'
import { readUpstreamFailure } from '../formats/upstream-errors.ts'
import { presetOf } from './deployments.ts'
import { presets } from './registry.ts'
import type { Consequence, Refusal } from '../../test/support/provider-rows.ts'
import { rowsOf } from '../../test/support/rows-of-providers.ts'

const consequences: Readonly<
  Record<Consequence, readonly [same: boolean, elsewhere: boolean, key: boolean]>
> = {
  again: [true, true, false],
  elsewhere: [false, true, false],
  caller: [false, false, false],
  key: [false, true, true],
}

const refusals = rowsOf('refusals')

/** Secrets and hosts that no message of the gateway may show. Each body below carries them besides its message. */
const planted = [
  'sk-live-9f8e7d6c5b4a3f2e',
  'org-3c2b1a0f9e8d7c6b',
  'https://inner.host.example/v1/keys',
  '10.1.2.3',
]

function withSecrets(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return text.replace(
    /("(?:message|detail|msg|faultstring|error|err_msg|status_msg|title)":")((?:[^"\\]|\\.)*)"/,
    (_, start: string, said: string) => `${start}${said} ${planted.join(' ')}"`,
  )
}

describe('a refusal', () => {
  test.each(refusals.map((row) => [row.preset, row.status, row] as const))(
    'of %s with %i becomes the right type of error',
    (provider, status, { body, headers, type, ours, next, retryAfterMs = null }) => {
      const [asked] = presetOf(provider).adapters.language ?? []
      if (!asked) throw new Error(`${provider} answers no text`)
      const failure = textAdapter('chat', asked).readError({
        status,
        headers: new Headers(headers),
        body: new TextEncoder().encode(withSecrets(body)),
        requestedModel: 'author/model',
        parameterNames: ['temperature'],
      })
      expect([failure.error.type, failure.error.status]).toEqual([type, ours])
      const { retrySame, retryElsewhere, credentialFault } = failure
      expect([retrySame, retryElsewhere, credentialFault]).toEqual([...consequences[next]])
      expect(failure.retryAfterMs).toBe(retryAfterMs)
      for (const secret of planted) expect(failure.error.message).not.toContain(secret)
      expect(failure.error.message).not.toMatch(/<html|<body/i)
    },
  )

  test.each(presets.map(({ slug }) => slug))('of %s, as its sample has it, tells no secret', (slug) => {
    const samples = new URL(`./${slug}/samples/`, import.meta.url)
    const read = (file: string) => JSON.parse(readFileSync(new URL(file, samples), 'utf8'))
    const { status, type } = read('expected.json')['error.json'] as Pick<Refusal, 'status' | 'type'>
    const body = withSecrets(read('error.json'))
    const { error } = readUpstreamFailure({
      status,
      headers: new Headers(),
      body: new TextEncoder().encode(body),
      requestedModel: 'author/model',
      parameterNames: [],
    })
    expect(error.type).toBe(type)
    for (const secret of planted) {
      expect(body).toContain(secret)
      expect(error.message).not.toContain(secret)
    }
  })
})
