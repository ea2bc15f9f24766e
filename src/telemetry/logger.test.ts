import { expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import type { CallLine } from './call-line.ts'
import { createLogger, type LogLevel, redactForLog, logTextMax } from './logger.ts'

function setUp(level: LogLevel = 'info') {
  const written: string[] = []
  const logger = createLogger({ level, destination: { write: (text) => void written.push(text) } })
  return { logger, written, lines: () => written.map((text) => JSON.parse(text) as Record<string, unknown>) }
}

const asker = { organizationId: null, keyId: null, clientAddress: '' }
const facts: CallLine = {
  generationId: 'gen-1',
  operation: 'chat_completions',
  model: 'openai/gpt-4o',
  provider: 'OpenAI',
  attempts: 1,
  tried: [],
  inputTokens: 10,
  cachedInputTokens: 4,
  outputTokens: 3,
  costNanocredits: 1_500_000n,
  isEstimated: false,
  uncoveredNanocredits: 0n,
  isCancelled: true,
  firstByteMs: 1.23456,
  errorType: null,
  story: null,
}

test('a request is one line of JSON with what is known of its call', () => {
  const { logger, written, lines } = setUp()
  logger.request({
    requestId: 'req_1',
    route: 'chat_completions',
    status: 200,
    durationMs: 12.3456,
    asker,
    facts,
  })
  expect(written).toHaveLength(1)
  expect(written[0]).toEndWith('}\n')
  const { time, ...line } = lines()[0] ?? {}
  expect(new Date(String(time)).getTime()).toBeGreaterThan(0)
  expect(line).toEqual({
    level: 'info',
    msg: 'request',
    request_id: 'req_1',
    route: 'chat_completions',
    status: 200,
    duration_ms: 12.35,
    generation_id: 'gen-1',
    operation: 'chat_completions',
    model: 'openai/gpt-4o',
    provider: 'OpenAI',
    attempts: 1,
    first_byte_ms: 1.23,
    input_tokens: 10,
    output_tokens: 3,
    cost: 0.0015,
    cancelled: true,
  })
})

test('levels below the chosen one write nothing', () => {
  const { logger, written } = setUp('error')
  logger.warn('w')
  logger.request({ requestId: 'r', route: 'x', status: 200, durationMs: 1, asker, facts })
  logger.failure(new GatewayError('provider_failed', 'f'), {})
  expect(written).toEqual([])
})

test('a failure names its causes; only a defect has a stack', () => {
  const { logger, lines } = setUp()
  const root = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' })
  const cause = new Error('send failed', { cause: root })
  logger.failure(new GatewayError('provider_failed', 'The provider failed.', { cause }), {
    request_id: 'req_1',
  })
  logger.failure(new GatewayError('internal', 'Internal server error.', { cause }), {})
  expect(lines()[0]).toMatchObject({
    level: 'warn',
    request_id: 'req_1',
    error_type: 'provider_failed',
    cause: ['Error: send failed', 'Error ECONNREFUSED: connect refused'],
  })
  expect(lines()[0]).not.toHaveProperty('stack')
  expect(lines()[1]).toMatchObject({ level: 'error', stack: expect.stringContaining('logger.test.ts') })
})

test('text that looks like a secret is removed from free text', () => {
  const { logger, written } = setUp()
  logger.warn('key sk-proj-abcdef123456 refused', {
    header: 'Bearer abcdefghijkl',
    url: 'postgres://user:hunter2@db/x?api_key=abcdefgh&x=1',
    amount: 10n ** 20n,
  })
  const text = written.join('')
  for (const secret of ['abcdef123456', 'abcdefghijkl', 'hunter2', '=abcdefgh'])
    expect(text).not.toContain(secret)
  expect(text).toContain('100000000000000000000')
  expect(text).toContain('x=1')
  expect(redactForLog('the task key was found, model gpt-4o-mini')).toBe(
    'the task key was found, model gpt-4o-mini',
  )
  expect(redactForLog('x'.repeat(logTextMax * 2))).toHaveLength(logTextMax + 1)
})

test('names of models that are known stay, however much they look like keys', () => {
  const { logger, lines } = setUp()
  const model = 'local/hf-coder-32b-instruct'
  const said = 'hf-coder-32b-instruct is not loaded'
  logger.warn('circuit opened', { model, said, other: said })
  expect(lines()[0]).toMatchObject({ model, said, other: 'hf-[secret] is not loaded' })
  const failed = {
    deployment: 'local',
    status: 500,
    outcome: 'failed',
    errorType: 'provider_failed',
  } as const
  const line = { requestId: 'r', route: 'x', status: 502, durationMs: 1, asker }
  logger.request({ ...line, facts: { ...facts, model, tried: [{ ...failed, model, said }] } })
  expect(lines()[1]).toMatchObject({ model, failed_attempts: [{ model, said }] })
})

test('a caller’s model id is redacted as long as no provider was asked for it', () => {
  const { logger, lines } = setUp()
  const line = { requestId: 'r', route: 'x', status: 400, durationMs: 1, asker }
  logger.request({ ...line, facts: { ...facts, model: 'sk-proj-abcdef123456' } })
  expect(lines()[0]?.['model']).toBe('sk-[secret]')
})

test('causes that lead to themselves end', () => {
  const { logger, lines } = setUp()
  const loop = new Error('round')
  loop.cause = loop
  logger.failure(new GatewayError('provider_failed', 'f', { cause: loop }), {})
  expect(lines()[0]?.['cause']).toHaveLength(5)
})
