import { expect, test } from 'bun:test'
import type { MeterReading } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import { testEndpoint } from '../../formats/text/testing.ts'
import { emptyReading } from '../../formats/text/streams/stream-meter.ts'
import { chargeOf } from './charge.ts'
import type { Candidate, Prepared } from './prepared.ts'

const endpoint = {
  ...testEndpoint('m', 'openai'),
  price: { inputToken: 1_000_000n, outputToken: 3_000_000n },
  longPrices: [{ inputTokensAbove: 1_000, price: { inputToken: 2_000_000n, outputToken: 6_000_000n } }],
  parameters: new Set(['seed']),
}

const candidate: Candidate = {
  endpoint,
  credential: { id: 'operator:openai', isByok: false },
  promptRatio: 1,
}

const prepared: Prepared = {
  generationId: 'gen-1',
  operation: 'chat_completions',
  owner: {
    organizationId: 'org_1',
    workspaceId: 'ws_1',
    memberId: null,
    keyId: 'key_1',
    requestId: 'req_1',
    batchId: 'batch_1',
    customId: 'a',
    sessionId: null,
    userId: 'u',
  },
  attribution: {},
  createdAtMs: 5,
  isStreamed: false,
  demand: { inputTokens: 2_000, outputTokensMax: 100, choices: 1, audioMilliseconds: 0, characters: 0 },
  route: [candidate],
  hold: { amountNanocredits: 9n, budgets: [] },
  request: { method: 'POST', path: '/chat/completions', headers: {}, body: [new Uint8Array([123, 125])] },
}

const reading: MeterReading = {
  ...emptyReading(),
  usage: { ...noUsage, inputTokens: 2_000, outputTokens: 50 },
  source: 'provider',
  finishReason: 'stop',
}

function chargeAt(stored: Prepared, changes: Partial<MeterReading> = {}) {
  const [first] = stored.route
  if (!first) throw new Error('a route is never empty')
  return chargeOf(stored, {
    candidate: first,
    reading: { ...reading, ...changes },
    ending: 'completed',
    attempts: 1,
    latencyMs: 1,
    generationMs: 2,
  })
}

test('a prepared call that was stored and loaded is charged the same as before', () => {
  const loaded = structuredClone(prepared)
  expect(chargeAt(loaded)).toEqual(chargeAt(prepared))
  // 2,000 × 2 and 50 × 6, because the prompt is a long one.
  expect(chargeAt(loaded).row).toMatchObject({
    costNanocredits: 4_300n,
    credentialId: 'operator:openai',
    batchId: 'batch_1',
    customId: 'a',
    status: 'completed',
  })
})

test('a call by a login of the caller’s own costs nothing, and its usage is kept', () => {
  const own = { ...prepared, route: [{ ...candidate, credential: { id: 'caller', isByok: true } }] }
  const { row, shown } = chargeAt(own)
  expect(row).toMatchObject({ costNanocredits: 0n, credentialId: 'caller', isUnpriced: false })
  expect(row.usage).toMatchObject({ inputTokens: 2_000, outputTokens: 50 })
  expect(shown).toMatchObject({ costNanocredits: 0n, isByok: true })
})

test('an answer that its provider ended as an error costs nothing', () => {
  expect(chargeAt(prepared, { finishReason: 'error' })).toMatchObject({
    row: { costNanocredits: 0n },
    isForNothing: true,
  })
})
