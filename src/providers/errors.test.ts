import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { ErrorType } from '../core/errors.ts'
import { textAdapter } from '../formats/text/adapter.ts'
import { readUpstreamFailure } from '../formats/upstream-errors.ts'
import { presetOf } from './deployments.ts'
import { presets } from './registry.ts'

/** What follows from a refusal: tried again at the same endpoint, at another one, and whether the key is to blame. */
type Consequence = 'again' | 'elsewhere' | 'caller' | 'key'

interface Refusal {
  provider: string
  status: number
  body: unknown
  headers?: Record<string, string>
  type: ErrorType
  /** Of our answer. */
  ours: number
  next: Consequence
  retryAfterMs?: number
}

const consequences: Readonly<
  Record<Consequence, readonly [same: boolean, elsewhere: boolean, key: boolean]>
> = {
  again: [true, true, false],
  elsewhere: [false, true, false],
  caller: [false, false, false],
  key: [false, true, true],
}

const badKey = { type: 'provider_failed', ours: 502, next: 'key' } as const
const noMoney = { type: 'provider_failed', ours: 502, next: 'key' } as const
const tooLong = { type: 'context_length_exceeded', ours: 400, next: 'elsewhere' } as const
const limited = { type: 'upstream_rate_limited', ours: 429, next: 'again' } as const
const overloaded = { type: 'provider_overloaded', ours: 529, next: 'again' } as const
const failed = { type: 'provider_failed', ours: 502, next: 'again' } as const
const faulty = { type: 'invalid_request', ours: 400, next: 'caller' } as const

/** The provider's envelope of OpenAI's kind. */
const envelope = (message: string, members: Record<string, unknown> = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...members },
})

// Everything below is written after the providers' documents; secrets are those of nobody.
const refusals: readonly Refusal[] = [
  // Keys that are refused, also with 400 and 403.
  {
    provider: 'openai',
    status: 401,
    body: envelope('Incorrect API key provided: sk-proj-abcd1234efgh5678.', { code: 'invalid_api_key' }),
    ...badKey,
  },
  {
    provider: 'anthropic',
    status: 401,
    body: {
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid x-api-key' },
      request_id: 'req_011',
    },
    ...badKey,
  },
  {
    provider: 'azure',
    status: 401,
    body: {
      error: { code: '401', message: 'Access denied due to invalid subscription key or wrong API endpoint.' },
    },
    ...badKey,
  },
  { provider: 'mistral', status: 401, body: { detail: 'Unauthorized' }, ...badKey },
  {
    provider: 'deepseek',
    status: 401,
    body: envelope('Authentication Fails, Your api key: ****5678 is invalid', {
      type: 'authentication_error',
      code: 'invalid_request_error',
    }),
    ...badKey,
  },
  {
    provider: 'xai',
    status: 400,
    body: { code: 'invalid-argument', error: 'Incorrect API key provided: xa***78.' },
    ...badKey,
  },
  {
    provider: 'perplexity',
    status: 401,
    body: { error: { message: 'Invalid API key provided.', type: 'invalid_api_key', code: 401 } },
    ...badKey,
  },
  { provider: 'perplexity', status: 401, body: '<html><head><title>401</title></head></html>', ...badKey },
  {
    provider: 'openrouter',
    status: 401,
    body: { error: { message: 'User not found.', code: 401 } },
    ...badKey,
  },
  {
    provider: 'groq',
    status: 401,
    body: envelope('Invalid API Key', { code: 'invalid_api_key' }),
    ...badKey,
  },
  {
    provider: 'ollama',
    status: 401,
    body: { error: { message: 'unauthorized', type: 'api_error', param: null, code: null } },
    ...badKey,
  },
  {
    provider: 'cerebras',
    status: 401,
    body: { message: 'Wrong API Key', type: 'invalid_request_error', code: 'wrong_api_key' },
    ...badKey,
  },
  {
    provider: 'zai',
    status: 401,
    body: { error: { code: '1000', message: 'Authentication Failed' } },
    ...badKey,
  },
  {
    provider: 'novita',
    status: 403,
    body: { code: 403, reason: 'INVALID_API_KEY', message: 'invalid api key' },
    ...badKey,
  },

  // Accounts without money: never tried again there, and others are.
  {
    provider: 'openai',
    status: 429,
    body: envelope('You exceeded your current quota, please check your plan and billing details.', {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
    ...noMoney,
  },
  {
    provider: 'deepseek',
    status: 402,
    body: envelope('Insufficient Balance', { type: 'unknown_error' }),
    ...noMoney,
  },
  {
    provider: 'anthropic',
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'Your credit balance is too low to access the Anthropic API.',
      },
    },
    ...noMoney,
  },
  {
    provider: 'openrouter',
    status: 402,
    body: { error: { message: 'Insufficient credits.', code: 402 } },
    ...noMoney,
  },
  {
    provider: 'moonshot',
    status: 429,
    body: {
      error: {
        message: 'Your account org-1f2e3d4c5b6a is suspended, please check your plan and billing details',
        type: 'exceeded_current_quota_error',
      },
    },
    ...noMoney,
  },
  {
    provider: 'zai',
    status: 429,
    body: {
      error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' },
    },
    ...noMoney,
  },

  // Prompts that are too long.
  {
    provider: 'openai',
    status: 400,
    body: envelope('Your input exceeds the context window of this model.', {
      param: 'input',
      code: 'context_length_exceeded',
    }),
    ...tooLong,
  },
  {
    provider: 'anthropic',
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 208312 tokens > 200000 maximum' },
    },
    ...tooLong,
  },
  {
    provider: 'deepseek',
    status: 400,
    headers: { 'content-type': 'application/octet-stream' },
    body: envelope(
      "This model's maximum context length is 131072 tokens. However, you requested 200000 tokens.",
    ),
    ...tooLong,
  },
  {
    provider: 'perplexity',
    status: 400,
    body: { error: { message: 'The prompt has too many tokens', type: 'too_many_prompt_tokens', code: 400 } },
    ...tooLong,
  },
  {
    provider: 'ollama',
    status: 400,
    body: {
      error: { message: 'prompt exceeded max context length by 9 tokens', type: 'invalid_request_error' },
    },
    ...tooLong,
  },
  {
    provider: 'openrouter',
    status: 400,
    body: {
      error: {
        message: "This endpoint's maximum context length is 200000 tokens.",
        code: 400,
        metadata: { previous_errors: [{ code: 400, message: 'x' }] },
      },
    },
    ...tooLong,
  },
  {
    provider: 'llamacpp',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
      },
    },
    ...tooLong,
  },
  // One request larger than a whole minute's limit: the same again never passes.
  {
    provider: 'groq',
    status: 429,
    body: envelope(
      'Request too large for model `m`: Limit 6000, Requested 9201, please reduce your message size.',
      {
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    ),
    type: 'payload_too_large',
    ours: 413,
    next: 'elsewhere',
  },
  {
    provider: 'anthropic',
    status: 413,
    body: {
      type: 'error',
      error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
    },
    type: 'payload_too_large',
    ours: 413,
    next: 'elsewhere',
  },

  // Rates, with the wait by header, by the headers of limits, or unknown.
  {
    provider: 'openai',
    status: 429,
    headers: { 'retry-after-ms': '1500', 'retry-after': '2' },
    body: envelope('Rate limit reached for requests', { type: 'requests', code: 'rate_limit_exceeded' }),
    ...limited,
    retryAfterMs: 1_500,
  },
  {
    provider: 'groq',
    status: 429,
    headers: { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7.66s' },
    body: envelope('Rate limit reached for model `m`', { type: 'tokens', code: 'rate_limit_exceeded' }),
    ...limited,
    retryAfterMs: 7_660,
  },
  {
    provider: 'azure',
    status: 429,
    headers: { 'retry-after': '31', 'apim-request-id': 'a' },
    body: {
      error: { code: 'RateLimitReached', message: 'Your requests have exceeded the call rate limit.' },
    },
    ...limited,
    retryAfterMs: 31_000,
  },
  {
    provider: 'anthropic',
    status: 429,
    headers: {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-11-20T10:00:20Z',
      date: 'Fri, 20 Nov 2026 10:00:00 GMT',
    },
    body: {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'This request would exceed a rate limit.' },
    },
    ...limited,
    retryAfterMs: 20_000,
  },
  {
    provider: 'cerebras',
    status: 429,
    headers: { 'x-ratelimit-remaining-tokens-minute': '0', 'x-ratelimit-reset-tokens-minute': '12.5' },
    body: {
      message: 'Tokens per minute limit exceeded',
      type: 'too_many_tokens_error',
      param: 'quota',
      code: 'token_quota_exceeded',
    },
    ...limited,
    retryAfterMs: 12_500,
  },
  {
    provider: 'mistral',
    status: 429,
    headers: { 'x-ratelimit-remaining-req-minute': '0' },
    body: {
      object: 'error',
      message: 'Rate limit exceeded',
      type: 'rate_limited',
      param: null,
      code: '1300',
    },
    ...limited,
  },
  {
    provider: 'moonshot',
    status: 429,
    body: {
      error: { message: 'Your account reached max request concurrency: 3', type: 'rate_limit_reached_error' },
    },
    ...limited,
  },
  {
    provider: 'zai',
    status: 429,
    body: { error: { code: '1302', message: 'High concurrency usage of this API' } },
    ...limited,
  },
  {
    provider: 'novita',
    status: 429,
    body: { code: 429, reason: 'RATE_LIMIT_EXCEEDED', message: 'too many requests, retry later' },
    ...limited,
  },
  {
    provider: 'fireworks',
    status: 429,
    body: {
      fault: {
        faultstring: 'Rate limit quota violation',
        detail: { errorcode: 'policies.ratelimit.QuotaViolation' },
      },
    },
    ...limited,
  },
  {
    provider: 'together',
    status: 429,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' },
    body: {
      error: { message: 'You have reached your rate limit', type: 'rate_limit', param: null, code: null },
    },
    ...limited,
    retryAfterMs: 1_000,
  },

  // Servers that are full, load a model, or fail.
  {
    provider: 'anthropic',
    status: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ...overloaded,
  },
  {
    provider: 'groq',
    status: 498,
    body: envelope('Flex tier capacity exceeded', { type: 'flex', code: 'capacity_exceeded' }),
    ...overloaded,
  },
  {
    provider: 'together',
    status: 503,
    body: { error: 'The server is overloaded or not ready yet.' },
    ...overloaded,
  },
  { provider: 'deepseek', status: 503, body: envelope('Server overloaded'), ...overloaded },
  {
    provider: 'llamacpp',
    status: 503,
    body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
    ...overloaded,
  },
  { provider: 'deepseek', status: 500, body: '', ...failed },
  {
    provider: 'vllm',
    status: 500,
    body: { object: 'error', message: 'EngineDeadError', type: 'InternalServerError', code: 500 },
    ...failed,
  },
  { provider: 'sambanova', status: 502, body: '<html><body>502 Bad Gateway</body></html>', ...failed },

  // Models that are not there.
  {
    provider: 'together',
    status: 404,
    body: envelope('Unable to access model gpt-4o', { code: 'model_not_available' }),
    type: 'no_matching_endpoint',
    ours: 404,
    next: 'elsewhere',
  },
  {
    provider: 'ollama',
    status: 404,
    body: { error: { message: 'model "tiny" not found, try pulling it first', type: 'api_error' } },
    type: 'no_matching_endpoint',
    ours: 404,
    next: 'elsewhere',
  },

  // What the caller did.
  {
    provider: 'azure',
    status: 400,
    body: {
      error: {
        code: 'content_filter',
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        param: 'prompt',
        status: 400,
      },
    },
    type: 'content_policy_violation',
    ours: 400,
    next: 'caller',
  },
  {
    provider: 'mistral',
    status: 422,
    body: {
      detail: [
        {
          loc: ['body', 'temperature'],
          msg: 'Input should be less than or equal to 1.5',
          type: 'less_than_equal',
        },
      ],
    },
    ...faulty,
  },
  {
    provider: 'sambanova',
    status: 400,
    body: { ...envelope('temperature is too high', { code: 'decimal_above_max_value' }), request_id: '0f9e' },
    ...faulty,
  },
  {
    provider: 'deepinfra',
    status: 422,
    body: { detail: 'tool_choice is not supported' },
    ...faulty,
  },
  { provider: 'fireworks', status: 400, body: { error: 'invalid tool schema' }, ...faulty },
  {
    provider: 'lmstudio',
    status: 400,
    body: { error: 'Invalid type for tools' },
    ...faulty,
  },
]

/** Secrets and places that no message of ours may have, which every body below carries besides what it says. */
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
  test.each(refusals.map((row) => [row.provider, row.status, row] as const))(
    'of %s with %i becomes what it is',
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
