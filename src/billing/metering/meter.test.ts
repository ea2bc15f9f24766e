import { describe, expect, test } from 'bun:test'
import { demandOf, endpointOf } from '../../../test/simulation/billing-fixtures.ts'
import type { MeterReading } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import type { Demand, Usage } from '../../canonical/usage.ts'
import { meter } from './meter.ts'
import type { MeterContext } from './modalities.ts'

const chat = endpointOf('language', { inputToken: 1n, outputToken: 2n })
const usual: Usage = { ...noUsage, inputTokens: 100, outputTokens: 20 }

function readingOf(change: Partial<MeterReading>): MeterReading {
  return {
    usage: null,
    source: 'provider',
    finishReason: 'stop',
    nativeFinishReason: 'stop',
    upstreamId: null,
    upstreamModel: null,
    mediaTokens: null,
    serviceTier: null,
    outputBytes: 60,
    outputPieces: 15,
    reportedCostNanocredits: null,
    ...change,
  }
}

function contextOf(change: Partial<MeterContext> = {}): MeterContext {
  const demand = demandOf({ inputTokens: 90, outputTokensMax: 50 })
  return { demand, endpoint: chat, ending: 'completed', ...change }
}

describe('what the provider reported', () => {
  test('counts as it is when it can be true', () => {
    expect(meter(readingOf({ usage: usual }), contextOf())).toEqual({
      usage: usual,
      source: 'provider',
      disbelieved: null,
    })
  })

  test('is replaced by a bounded estimate when it is negative, fractional, not a number or beyond belief', () => {
    const absurd = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 52, 900_000_000]
    for (const outputTokens of absurd) {
      const usage = { ...usual, outputTokens }
      expect(meter(readingOf({ usage }), contextOf())).toEqual({
        usage: { ...noUsage, inputTokens: 90, outputTokens: 20 },
        source: 'estimated',
        disbelieved: usage,
      })
    }
  })

  test('is replaced when it says that nothing was used although an answer was seen', () => {
    expect(meter(readingOf({ usage: noUsage }), contextOf()).usage.outputTokens).toBe(20)
    const noOutput = meter(readingOf({ usage: { ...usual, outputTokens: 0 } }), contextOf())
    expect(noOutput).toMatchObject({ source: 'estimated', usage: { outputTokens: 20 } })
    const reading = readingOf({ usage: { ...usual, outputTokens: 0 }, outputBytes: 0, outputPieces: 2 })
    expect(meter(reading, contextOf())).toMatchObject({ source: 'estimated', usage: { outputTokens: 2 } })
  })

  test('is cut to its totals where a part exceeds them, and marked', () => {
    const usage = { ...usual, cachedInputTokens: 400, reasoningTokens: 50 }
    expect(meter(readingOf({ usage }), contextOf())).toEqual({
      usage: { ...usual, cachedInputTokens: 100, reasoningTokens: 20 },
      source: 'estimated',
      disbelieved: usage,
    })
  })

  test('is limited by the context that the endpoint states', () => {
    const small = endpointOf('language', {}, { contextLength: 100_000 })
    const usage = { ...usual, inputTokens: 200_000 }
    expect(meter(readingOf({ usage }), contextOf({ endpoint: small })).source).toBe('estimated')
  })
})

describe('the limit of the call', () => {
  function sourceOf(usage: Partial<Usage>, change: Partial<MeterContext> = {}) {
    return meter(readingOf({ usage: { ...usual, ...usage } }), contextOf(change)).source
  }

  test('bounds the believed output, with a small margin for tokens that providers count in addition', () => {
    expect([20, 50, 53, 54, 128_001].map((outputTokens) => sourceOf({ outputTokens }))).toEqual([
      'provider',
      'provider',
      'provider',
      'estimated',
      'estimated',
    ])
    const usage = { ...usual, outputTokens: 128_001 }
    expect(meter(readingOf({ usage }), contextOf())).toEqual({
      usage: { ...noUsage, inputTokens: 100, outputTokens: 20 },
      source: 'estimated',
      disbelieved: usage,
    })
  })

  test('is not widened by reasoning where the model does not reason', () => {
    const usage = { outputTokens: 15_000, reasoningTokens: 14_990 }
    const thinking = (reasons: boolean) => ({
      endpoint: { ...contextOf().endpoint, reasons, outputTokensMax: 16_384 },
    })
    expect(sourceOf(usage, thinking(false))).toBe('estimated')
    expect(sourceOf(usage, thinking(true))).toBe('provider')
  })

  test('counts for all choices together', () => {
    const demand = demandOf({ inputTokens: 90, outputTokensMax: 50, choices: 4 })
    expect([210, 211].map((outputTokens) => sourceOf({ outputTokens }, { demand }))).toEqual([
      'provider',
      'estimated',
    ])
  })

  test('is the endpoint’s own where the call has none or a higher one', () => {
    const endpoint = endpointOf('language', {}, { outputTokensMax: 100 })
    for (const outputTokensMax of [null, 5_000]) {
      const demand = demandOf({ inputTokens: 90, outputTokensMax })
      const sources = [105, 106].map((outputTokens) => sourceOf({ outputTokens }, { demand, endpoint }))
      expect(sources).toEqual(['provider', 'estimated'])
    }
    const demand = demandOf({ inputTokens: 90, outputTokensMax: null })
    expect(sourceOf({ outputTokens: 128_001 }, { demand })).toBe('provider')
  })

  test('does not bound reasoning, which the endpoint’s own limit bounds', () => {
    const thought = (reasoningTokens: number, endpoint: MeterContext['endpoint'], spoken = 50) =>
      sourceOf(
        { outputTokens: reasoningTokens + spoken, reasoningTokens },
        { endpoint: { ...endpoint, reasons: true } },
      )
    const stated = endpointOf('language', {}, { outputTokensMax: 4_000, contextLength: 100_000 })
    expect([4_000, 4_201].map((count) => thought(count, stated))).toEqual(['provider', 'estimated'])
    expect(thought(4_000, stated, 54)).toBe('estimated')
    const ofContext = endpointOf('language', {}, { contextLength: 32_000 })
    expect([32_000, 40_000].map((count) => thought(count, ofContext))).toEqual(['provider', 'estimated'])
    expect([16_384, 20_000].map((count) => thought(count, chat))).toEqual(['provider', 'estimated'])
  })
})

test('a prompt of no tokens beside output is missing, and the output is believed', () => {
  const usage = { ...usual, inputTokens: 0 }
  expect(meter(readingOf({ usage }), contextOf({ promptRatio: 1.5 }))).toEqual({
    usage: { ...usual, inputTokens: 135 },
    source: 'estimated',
    disbelieved: usage,
  })
})

describe('without a report', () => {
  test('missing usage is estimated from the request and the seen answer, and is never zero', () => {
    const metered = meter(readingOf({}), contextOf())
    expect(metered).toEqual({
      usage: { ...noUsage, inputTokens: 90, outputTokens: 20 },
      source: 'estimated',
      disbelieved: null,
    })
  })

  test('the estimate of a prompt with audio has audio tokens where audio has its own price', () => {
    const demand = demandOf({ inputTokens: 90, audioInputTokens: 60 })
    const endpoint = endpointOf('language', { inputToken: 1n, inputAudioToken: 9n, outputToken: 2n })
    const heard = (change: Partial<MeterContext>) =>
      meter(readingOf({}), contextOf({ demand, ...change })).usage.inputAudioTokens
    expect([heard({ endpoint }), heard({ endpoint, promptRatio: 1.5 }), heard({})]).toEqual([60, 90, 0])
  })

  test('an estimate corrects the prompt by the learned ratio and never exceeds what was allowed', () => {
    const reading = readingOf({ outputBytes: 90_000 })
    expect(meter(reading, contextOf({ promptRatio: 1.5 })).usage).toMatchObject({
      inputTokens: 135,
      outputTokens: 50,
    })
  })

  test('a caller who hangs up pays for what was streamed', () => {
    const reading = readingOf({ finishReason: null, outputBytes: 30, outputPieces: 12 })
    const metered = meter(reading, contextOf({ ending: 'cancelled' }))
    expect(metered).toMatchObject({
      usage: { ...noUsage, inputTokens: 90, outputTokens: 12 },
      source: 'estimated',
    })
  })

  test('a caller who hangs up pays the provider’s charge, if the provider reports it', () => {
    const reading = readingOf({ usage: usual, finishReason: null, outputBytes: 0, outputPieces: 0 })
    expect(meter(reading, contextOf({ ending: 'cancelled' }))).toMatchObject({
      usage: usual,
      source: 'provider',
    })
  })

  test('the received part of a stream that broke off is paid', () => {
    const metered = meter(readingOf({ finishReason: null }), contextOf({ ending: 'failed' }))
    expect(metered.usage.outputTokens).toBe(20)
  })

  test('embeddings are estimated by their input', () => {
    const endpoint = endpointOf('embedding', { inputToken: 1n })
    const reading = readingOf({ outputBytes: 0, outputPieces: 0, finishReason: null })
    expect(meter(reading, contextOf({ endpoint })).usage).toEqual({ ...noUsage, inputTokens: 90 })
  })
})

describe('nothing is charged', () => {
  test('when nothing was answered', () => {
    const nothing = { outputBytes: 0, outputPieces: 0 }
    expect(meter(readingOf(nothing), contextOf({ ending: 'failed' })).usage).toEqual(noUsage)
    expect(
      meter(readingOf({ ...nothing, finishReason: null }), contextOf({ ending: 'cancelled' })).usage,
    ).toEqual(noUsage)
  })

  test('when a caller left before the first sound or word', () => {
    const reading = readingOf({ outputBytes: 0, outputPieces: 0, finishReason: null })
    for (const modality of ['language', 'transcription', 'speech'] as const) {
      const endpoint = endpointOf(modality, {})
      const demand = demandOf({ inputTokens: 9, audioMilliseconds: 9, characters: 9 })
      expect(meter(reading, { endpoint, demand, ending: 'cancelled' }).usage).toEqual(noUsage)
    }
  })

  test('when a model ended without output and with a blank or failed reason, whatever it reports for the prompt', () => {
    const usage = { ...usual, outputTokens: 0 }
    for (const finishReason of [null, 'error']) {
      const metered = meter(readingOf({ usage, finishReason, outputBytes: 0, outputPieces: 0 }), contextOf())
      expect(metered.usage).toEqual(noUsage)
    }
  })

  test('but an empty answer that ended properly is charged as reported', () => {
    const usage = { ...usual, outputTokens: 0 }
    const reading = readingOf({ usage, outputBytes: 0, outputPieces: 0 })
    expect(meter(reading, contextOf()).usage).toEqual(usage)
  })
})

describe('audio', () => {
  const whisper = endpointOf('transcription', { audioHour: 360_000_000n })

  test('a duration of years is replaced by the length of the file', () => {
    const usage = { ...noUsage, audioMilliseconds: 5 * 365 * 86_400_000 }
    const demand = demandOf({ audioMilliseconds: 61_000 })
    const metered = meter(readingOf({ usage }), contextOf({ endpoint: whisper, demand }))
    expect(metered).toMatchObject({ usage: { ...noUsage, audioMilliseconds: 61_000 }, source: 'estimated' })
  })

  test('of unknown length is charged as a minute and not as nothing', () => {
    const demand = demandOf({ audioMilliseconds: null })
    expect(meter(readingOf({}), contextOf({ endpoint: whisper, demand })).usage.audioMilliseconds).toBe(
      60_000,
    )
  })

  test('speech is charged by the characters that its provider reports as billed, if the text can have that many', () => {
    const endpoint = endpointOf('speech', { character: 1n })
    const demand = demandOf({ characters: 120 })
    const charged = (characters: number) =>
      meter(readingOf({ usage: { ...noUsage, characters } }), contextOf({ demand, endpoint }))
    expect(charged(60)).toMatchObject({ usage: { characters: 60 }, source: 'provider' })
    expect(charged(480)).toMatchObject({ usage: { characters: 480 }, source: 'provider' })
    expect(charged(581)).toMatchObject({ usage: { characters: 120 }, source: 'estimated' })
    expect(charged(0)).toMatchObject({ usage: { characters: 120 }, source: 'estimated' })
  })

  test('speech without a report is charged by its characters', () => {
    const speech = endpointOf('speech', { character: 15_000n })
    const reading = readingOf({ outputBytes: 48_000, outputPieces: 4, finishReason: null })
    const demand = demandOf({ characters: 120 })
    expect(meter(reading, contextOf({ endpoint: speech, demand })).usage).toEqual({
      ...noUsage,
      characters: 120,
    })
  })
})

describe('the request', () => {
  const metered = (usage: Partial<Usage>, demand: Partial<Demand> = {}) =>
    meter(
      readingOf({ usage: { ...usual, ...usage } }),
      contextOf({
        demand: demandOf({ inputTokens: 90, inputBytes: 270, ...demand }),
        endpoint: endpointOf('language', { inputToken: 1n, inputAudioToken: 9n, outputToken: 1n }),
      }),
    )

  test('bounds the believed input when every byte of it is known', () => {
    // A byte is at most one token, and 4,096 are for instructions that providers add themselves.
    expect(metered({ inputTokens: 4_366 }).source).toBe('provider')
    expect(metered({ inputTokens: 4_367 })).toMatchObject({
      source: 'estimated',
      usage: { inputTokens: 90 },
    })
    expect(metered({ inputTokens: 4_367 }, { hasUncountedInput: true }).source).toBe('provider')
  })

  test('bounds only the input: a possible count of output is charged as reported', () => {
    expect(metered({ inputTokens: 90_000, outputTokens: 37, reasoningTokens: 12 })).toMatchObject({
      source: 'estimated',
      usage: { inputTokens: 90, outputTokens: 37, reasoningTokens: 12 },
    })
  })

  test('with a picture of a few bytes may have as many tokens as the largest seen count of a picture', () => {
    expect(metered({ inputTokens: 48_500 }, { images: 1 }).source).toBe('provider')
    expect(metered({ inputTokens: 54_367 }, { images: 1 }).source).toBe('estimated')
  })

  test('with files or searches may fill the context once for each time that the model was asked, as the answer shows', () => {
    const endpoint = endpointOf('language', { inputToken: 1n, outputToken: 1n }, { contextLength: 128_000 })
    const demand = demandOf({ inputTokens: 90, inputBytes: 270, hasUncountedInput: true })
    const sourceOf = (inputTokens: number, providerCalls: number, change: Partial<Demand> = {}) =>
      meter(
        readingOf({ usage: { ...usual, inputTokens }, providerCalls }),
        contextOf({ demand: { ...demand, ...change }, endpoint }),
      ).source
    expect([0, 1, 2, 3].map((calls) => sourceOf(404_500, calls))).toEqual([
      'estimated',
      'estimated',
      'estimated',
      'provider',
    ])
    // The context counts at most twenty times, whatever the answer shows.
    expect([2_560_000, 2_560_001].map((count) => sourceOf(count, 1_000))).toEqual(['provider', 'estimated'])
    // If the request cannot cause a search, an answer that reports searches does not raise the bound.
    expect(sourceOf(404_500, 10, { hasUncountedInput: undefined as unknown as true })).toBe('estimated')
    const searching = { ...endpoint, searches: true as const }
    const searched = readingOf({ usage: { ...usual, inputTokens: 100_000 } })
    const plain = demandOf({ inputTokens: 9, inputBytes: 30 })
    expect(meter(searched, contextOf({ demand: plain, endpoint: searching })).source).toBe('provider')
    expect(meter(searched, contextOf({ demand: plain, endpoint })).source).toBe('estimated')
  })

  test('without sound is not charged for sound, whatever its provider reports', () => {
    expect(metered({ inputTokens: 90, inputAudioTokens: 80 })).toMatchObject({
      source: 'estimated',
      usage: { inputTokens: 90, inputAudioTokens: 0 },
    })
    const heard = metered({ inputTokens: 90, inputAudioTokens: 80 }, { audioInputTokens: 70 })
    expect(heard).toMatchObject({ source: 'provider', usage: { inputAudioTokens: 80 } })
  })
})
