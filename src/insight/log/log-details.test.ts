import { expect, test } from 'bun:test'
import type { AttemptLine, CallLine, CallStory } from '../../telemetry/call-line.ts'
import { detailsTextOf, type LoggedAttempt, readDetails } from './log-details.ts'

const row = { deployment: 'near', model: 'maker/model' }
const answered: AttemptLine = {
  deployment: 'near',
  model: 'maker/model',
  status: null,
  outcome: 'answered',
  errorType: null,
  said: null,
}
const attempt = {
  endpoint: { deployment: { provider: 'acme', providerName: 'Acme "AI"' } },
  startedMs: 0.4,
  headersMs: 120.6,
  firstTokenMs: null,
  endedMs: 151.2,
  status: 201,
  line: answered,
}
const told: LoggedAttempt = {
  deployment: 'near',
  provider_name: null,
  model: 'maker/model',
  outcome: 'answered',
  status: 201,
  error_type: null,
  started_ms: 0,
  headers_ms: 121,
  first_token_ms: null,
  ended_ms: 151,
}
/** An attempt of a call that has more to tell is told whole. */
const named: LoggedAttempt = { ...told, provider_name: 'Acme "AI"' }
const story: CallStory = {
  call: { sessionId: null, userId: null },
  attempts: [attempt],
  excluded: [],
  prepared: { isStreamed: false, hold: { amountNanocredits: 9_007_199_254_740_993n } },
}

function factsOf(own: CallStory | null): CallLine {
  return {
    generationId: null,
    operation: null,
    model: 'maker/model',
    provider: null,
    attempts: own?.attempts.length ?? 0,
    tried: own?.attempts.map(({ line }) => line) ?? [],
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    costNanocredits: null,
    isEstimated: false,
    uncoveredNanocredits: 0n,
    isCancelled: false,
    firstByteMs: null,
    errorType: null,
    story: own,
  }
}

function readBack(own: CallStory | null) {
  return readDetails(detailsTextOf(factsOf(own)), row)
}

test('a call that its first endpoint answered is told whole, out of a short text', () => {
  expect(detailsTextOf(factsOf(story)).length).toBeLessThan(48)
  expect(readBack(story)).toEqual({ hold_nanocredits: '9007199254740993', attempts: [told] })
  const before = '["9007199254740993","Acme \\"AI\\"",201,0,121,null,151]'
  expect(readDetails(before, row)).toEqual({ hold_nanocredits: '9007199254740993', attempts: [named] })
})

test('the status of the line goes before that of the attempt, and a status may be unknown', () => {
  const said = { ...attempt, line: { ...answered, status: 207 } }
  expect(readBack({ ...story, attempts: [said] }).attempts).toEqual([{ ...told, status: 207 }])
  const unknown = { ...attempt, status: null }
  expect(readBack({ ...story, attempts: [unknown] }).attempts).toEqual([{ ...told, status: null }])
})

test('what else happened to a call is told beside the columns', () => {
  const failed: AttemptLine = {
    ...answered,
    outcome: 'failed',
    status: 503,
    errorType: 'server',
    said: 'busy',
  }
  const cancelled: AttemptLine = { ...answered, outcome: 'cancelled' }
  const excluded = [{ provider: 'other', model: 'maker/model', step: 'health', reason: 'resting' }]
  expect(readBack({ ...story, attempts: [{ ...attempt, line: failed }, attempt] }).attempts).toEqual([
    { ...named, outcome: 'failed', status: 503, error_type: 'server', said: 'busy' },
    named,
  ])
  expect(readBack({ ...story, attempts: [{ ...attempt, line: cancelled }] }).attempts).toEqual([
    { ...named, outcome: 'cancelled' },
  ])
  expect(readBack({ ...story, excluded })).toEqual({
    hold_nanocredits: '9007199254740993',
    attempts: [named],
    excluded,
  })
})

test('a call without a hold, without an attempt or without a story has none to tell', () => {
  expect(readBack({ ...story, prepared: null })).toEqual({ attempts: [named] })
  expect(readBack({ ...story, attempts: [] })).toEqual({ hold_nanocredits: '9007199254740993' })
  expect(readBack(null)).toEqual({})
})
