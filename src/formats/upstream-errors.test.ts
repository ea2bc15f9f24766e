import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { UpstreamFailure } from '../canonical/upstream.ts'
import { redactForCaller } from './redact.ts'
import { readReportedError, readUpstreamFailure, type ProviderReport } from './upstream-errors.ts'

function failureOf(status: number, body: unknown, headers: Record<string, string> = {}): UpstreamFailure {
  return readUpstreamFailure({
    status,
    headers: new Headers(headers),
    body: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
    requestedModel: 'openai/gpt-4o-mini',
    parameterNames: ['temperature', 'max_tokens'],
  })
}

const openai = (
  message: string,
  code: string | null = null,
  type = 'invalid_request_error',
  param: string | null = null,
) => ({
  error: { message, type, param, code },
})

test('an account without money gets no wait from the headers of a request limit', () => {
  const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6s' }
  const waitOf = (code: string) => failureOf(429, openai('Refused', code, code), headers).retryAfterMs
  expect(waitOf('rate_limit_exceeded')).toBe(6_000)
  expect(waitOf('insufficient_quota')).toBeNull()
})

describe('the meaning of a provider’s refusal', () => {
  const cases: readonly [name: string, status: number, body: unknown, meaning: string][] = [
    [
      'a bad key, OpenAI',
      401,
      openai('Incorrect API key provided: sk-ab***yz', 'invalid_api_key'),
      'provider_failed: elsewhere credential',
    ],
    ['a bad key, Mistral', 401, { detail: 'Unauthorized' }, 'provider_failed: elsewhere credential'],
    [
      'a bad key as 400',
      400,
      { code: 'invalid-argument', error: 'Incorrect API key provided: xx' },
      'provider_failed: elsewhere credential',
    ],
    [
      'a bad key as 403',
      403,
      { message: 'The security token included in the request is invalid.' },
      'provider_failed: elsewhere credential',
    ],
    [
      'no right to a model',
      403,
      openai('Project has no access to model gpt-x', 'model_not_found'),
      'no_matching_endpoint: elsewhere',
    ],
    [
      'a firewall’s page',
      403,
      '<!DOCTYPE html><html>Attention Required</html>',
      'provider_failed: elsewhere same',
    ],
    ['moderation', 403, { error: { message: 'Flagged by moderation' } }, 'content_policy_violation'],
    [
      'no quota',
      429,
      openai('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'),
      'provider_failed: elsewhere credential',
    ],
    ['no balance', 402, openai('Insufficient Balance'), 'provider_failed: elsewhere credential'],
    [
      'a rate limit that speaks of billing',
      429,
      openai(
        'Rate limit reached. Add a payment method on the billing page.',
        'rate_limit_exceeded',
        'requests',
      ),
      'upstream_rate_limited: elsewhere same',
    ],
    ['a rate limit without words', 429, '', 'upstream_rate_limited: elsewhere same'],
    [
      'a rate limit that has room later',
      429,
      openai(
        'Rate limit reached for gpt-4o in organization org-a on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 8s.',
        'rate_limit_exceeded',
        'tokens',
      ),
      'upstream_rate_limited: elsewhere same',
    ],
    [
      'a rate limit that the request alone is beyond, OpenAI',
      429,
      openai(
        'Request too large for gpt-4o (for limit gpt-4o) in organization org-a on tokens per min (TPM): Limit 30000, Requested 36278. The input or output tokens must be reduced in order to run successfully.',
        'rate_limit_exceeded',
        'tokens',
      ),
      'payload_too_large: elsewhere',
    ],
    [
      'the same in other words',
      429,
      openai(
        'Rate limit reached on tokens per min (TPM): Limit 30000, Used 0, Requested 30001.',
        null,
        'tokens',
      ),
      'payload_too_large: elsewhere',
    ],
    [
      'the same as 413, Groq',
      413,
      openai(
        'Request too large for model `openai/gpt-oss-120b` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 8391, please reduce your message size',
        'rate_limit_exceeded',
        'tokens',
      ),
      'payload_too_large: elsewhere',
    ],
    [
      'a rate limit that may be full of other requests, Anthropic',
      429,
      {
        type: 'error',
        error: {
          type: 'rate_limit_error',
          message:
            'This request would exceed the rate limit for your organization of 20,000 input tokens per minute.',
        },
      },
      'upstream_rate_limited: elsewhere same',
    ],
    [
      'too long, OpenAI',
      400,
      openai('too long', 'context_length_exceeded'),
      'context_length_exceeded: elsewhere',
    ],
    [
      'too long, DeepSeek',
      400,
      openai("This model's maximum context length is 65536 tokens"),
      'context_length_exceeded: elsewhere',
    ],
    [
      'too long, Cohere',
      400,
      { error_type: 'TOO_MANY_TOKENS', message: 'x' },
      'context_length_exceeded: elsewhere',
    ],
    [
      'too long, Bedrock',
      400,
      { message: 'Input is too long for requested model.' },
      'context_length_exceeded: elsewhere',
    ],
    [
      'too long, llama.cpp',
      400,
      { error: { code: 400, type: 'exceed_context_size_error', message: 'x' } },
      'context_length_exceeded: elsewhere',
    ],
    ['too large', 413, openai('too large'), 'payload_too_large: elsewhere'],
    ['a too long address', 414, '', 'invalid_request'],
    ['a too long address that counts as a header', 431, '', 'invalid_request'],
    [
      'a wrong parameter',
      400,
      openai('Unsupported', 'unsupported_parameter', 'invalid_request_error', 'temperature'),
      'invalid_request',
    ],
    [
      'a validation list',
      422,
      { detail: [{ loc: ['body'], msg: 'field required', type: 'x' }] },
      'invalid_request',
    ],
    [
      'an unknown model',
      404,
      openai('The model does not exist', 'model_not_found'),
      'no_matching_endpoint: elsewhere',
    ],
    [
      'a model not pulled',
      404,
      { error: { message: 'model "x" not found, try pulling it first' } },
      'no_matching_endpoint: elsewhere',
    ],
    ['no flex capacity', 498, openai('capacity_exceeded'), 'provider_overloaded: elsewhere same'],
    [
      'overload',
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'provider_overloaded: elsewhere same',
    ],
    [
      'a model that loads',
      503,
      { error: { code: 503, type: 'unavailable_error', message: 'Loading model' } },
      'provider_overloaded: elsewhere same',
    ],
    [
      'a server error',
      500,
      openai('The server had an error', null, 'server_error'),
      'provider_failed: elsewhere same',
    ],
    ['a gateway’s timeout', 504, '<html>Gateway Timeout</html>', 'provider_timeout: elsewhere'],
    ['a bare string', 500, '"boom"', 'provider_failed: elsewhere same'],
    ['a fault object', 400, { fault: { faultstring: 'Bad', detail: { errorcode: 'x' } } }, 'invalid_request'],
    ['an array around the error', 400, [{ error: { code: 400, message: 'Bad' } }], 'invalid_request'],
    ['bytes that are no text', 500, '\u0000\u0001\u0002', 'provider_failed: elsewhere same'],
  ]
  test.each(cases)('%s', (_name, status, body, meaning) => {
    const { error, retryElsewhere, retrySame, credentialFault } = failureOf(status, body)
    const flags = [
      retryElsewhere && 'elsewhere',
      retrySame && 'same',
      credentialFault && 'credential',
    ].filter(Boolean)
    expect([error.type, ...(flags.length > 0 ? [flags.join(' ')] : [])].join(': ')).toBe(meaning)
  })

  test('cannot be faked by a caller whose text the provider repeats', () => {
    for (const words of ['invalid api key', 'insufficient_quota', 'insufficient balance', 'Unauthorized']) {
      const failure = failureOf(400, openai(`Invalid value: '${words}'. Supported values are: 'text'.`))
      expect(failure.credentialFault).toBe(false)
      expect(failure.error.type).toBe('invalid_request')
    }
  })
})

test('the names of the called model stay in a message, and no other text that looks like a key', () => {
  const name = 'qwen2-5-coder-32b-instruct-q4_k_m'
  const message = `no ${name} for key sk-abcdefgh12345678 at https://internal.example/${name} \ue000 ${name}-with-more-0000`
  const body = new TextEncoder().encode(JSON.stringify({ error: { message, type: 'invalid_request_error' } }))
  const response = { status: 400, headers: new Headers(), body, requestedModel: 'm', parameterNames: [] }
  const { error } = readUpstreamFailure({ ...response, modelNames: [name, 'llama'] })
  expect(error.message).toEndWith(`no ${name} for key [removed] at [removed] ${name}-with-more-0000`)
  expect(readUpstreamFailure(response).error.message).toContain('no [removed] for key [removed]')
})

describe('the wait a provider asks for', () => {
  test('is read in every spelling, bounded, and shown', () => {
    const tooLarge = failureOf(429, openai('Request too large for gpt-4o'), { 'retry-after': '3' })
    expect([tooLarge.retryAfterMs, tooLarge.error.retryAfterSeconds]).toEqual([null, null])
    const wait = (headers: Record<string, string>) => failureOf(429, '', headers).retryAfterMs
    expect(wait({ 'retry-after': '3' })).toBe(3_000)
    expect(wait({ 'retry-after': '0.25' })).toBe(250)
    expect(wait({ 'retry-after-ms': '1500', 'retry-after': '9' })).toBe(1_500)
    expect(
      wait({ 'retry-after': 'Tue, 03 Nov 2026 10:00:30 GMT', date: 'Tue, 03 Nov 2026 10:00:00 GMT' }),
    ).toBe(30_000)
    expect(wait({ 'retry-after': '99999999' })).toBe(3_600_000)
    for (const nonsense of ['soon', '-5', 'Tue, 03 Nov 2026 10:00:30 GMT'])
      expect(wait({ 'retry-after': nonsense })).toBeNull()
    expect(failureOf(429, '', { 'retry-after': '3' }).error.retryAfterSeconds).toBe(3)
  })
})

describe('the message that a caller is shown', () => {
  test('names the parameter only when the caller sent it', () => {
    expect(failureOf(400, openai('x', null, 'y', 'temperature')).error.param).toBe('temperature')
    expect(failureOf(400, openai('x', null, 'y', 'messages[0].content')).error.param).toBe(
      'messages[0].content',
    )
    expect(failureOf(400, openai('x', null, 'y', 'internal_host')).error.param).toBeNull()
  })

  test('has no key, address, host, account or page in it', () => {
    const secrets = [
      'sk-proj-abcdefghijklmnop',
      'gsk_abcdefghijklmnopqrstuv',
      'Bearer abc.def.ghi',
      'https://internal.example.com/v1?key=1',
      '10.0.12.7:8080',
      'ops@example.com',
      'gpu-7.cluster.internal',
      'localhost:8000',
      'org-AbCdEf123456',
      'abc************xyz',
    ]
    for (const secret of secrets) {
      const { error } = failureOf(400, openai(`Trouble with ${secret} today`))
      expect(error.message).not.toContain(secret)
      expect(error.message).toContain('Trouble with')
      expect(error.message).toContain('today')
    }
    expect(redactForCaller('<!doctype html><p>hello')).toBe('')
  })

  test('is short, on one line, and has the provider’s words only for the caller’s own mistakes', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 5_000 }), fc.integer({ min: 400, max: 599 }), (text, status) => {
        const { error } = failureOf(status, openai(text))
        expect([...error.message].length).toBeLessThan(700)
        expect(error.message).not.toMatch(/[\r\n\u0000]/)
        if (status >= 500 || status === 401) expect(error.message).not.toContain('It said')
      }),
    )
  })
})

describe('an error inside a stream', () => {
  const plain = { hideSecrets: (text: string) => text, modelNames: [] }

  test('is classified by its code, its type, or as a failure', () => {
    expect(readReportedError({ code: 503, message: 'x' }, plain).type).toBe('provider_overloaded')
    expect(readReportedError({ type: 'rate_limit_error' }, plain).type).toBe('upstream_rate_limited')
    expect(readReportedError({ code: 'context_length_exceeded' }, plain).type).toBe('context_length_exceeded')
    expect(readReportedError('text', plain).type).toBe('provider_failed')
    expect(readReportedError({}, plain).type).toBe('provider_failed')
  })

  test('names the called model, even if its name looks like a key', () => {
    const name = 'qwen2-5-coder-32b-instruct-q4_k_m'
    const told = { type: 'invalid_request_error', message: `no room for ${name} of fw-abcdef123456` }
    const { message, cause } = readReportedError(told, { ...plain, modelNames: [name] })
    expect(message).toEndWith(`It said: no room for ${name} of [removed]`)
    expect((cause as ProviderReport).said).toBe(`no room for ${name} of [removed]`)
    expect(readReportedError(told, plain).message).not.toContain(name)
  })
})
