import { joinPieces, type BodyPiece, type BodyPieces } from '../../core/body.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, ShownCharge, StreamRewriter } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'

/** A body as text. */
export function textOf(pieces: BodyPieces): string {
  return new TextDecoder().decode(joinPieces(pieces))
}

/** An answer's identity in tests. */
export const testContext: AnswerContext = {
  generationId: 'gen-1-abc',
  model: 'openai/gpt-4o-mini',
  provider: 'OpenAI',
  providerSlug: 'openai',
  created: 1_700_000_000,
  hideSecrets: (text) => text,
  modelNames: [],
}

/** A charge in tests: 30 nanocredits, of which 10 for the prompt. */
export const testCharge: ShownCharge = {
  costNanocredits: 30n,
  promptNanocredits: 10n,
  completionNanocredits: 20n,
  isByok: false,
  usage: { ...noUsage, inputTokens: 3, outputTokens: 4 },
  isEstimated: false,
  metadata: null,
  metadataAlias: false,
}

/** An endpoint in tests, of the provider and under the name given. */
export function testEndpoint(upstreamModel: string, provider = 'openai'): Endpoint {
  return {
    id: `${provider}/${upstreamModel}`,
    deployment: {
      id: provider,
      preset: provider,
      provider,
      providerName: provider,
      baseUrl: 'http://127.0.0.1:1/v1',
      region: null,
      weight: 1,
      concurrencyMax: null,
    },
    model: `${provider}/${upstreamModel}`,
    upstreamModel,
    modality: 'language',
    price: {},
    longPrices: [],
    isPriced: true,
    contextLength: null,
    outputTokensMax: null,
    parameters: null,
    inputModalities: ['text'],
    outputModalities: ['text'],
    dataPolicy: { zdr: false, trains: false, stores: false },
    reasons: false,
    quantization: null,
    batch: 'none',
    audio: null,
  }
}

/** The caller's part of a stream: the frames shown at once, and the ending. */
export interface StreamRun {
  shown: string
  ending: string
  rewriter: StreamRewriter
}

/** Feeds a stream to a rewriter, cut at the given places, and returns both halves as text. */
export function runStream(
  rewriter: StreamRewriter,
  bytes: Uint8Array,
  cuts: readonly number[] = [],
): StreamRun {
  const pieces: BodyPiece[] = []
  let from = 0
  for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
    const shown = rewriter.push(bytes.subarray(from, cut))
    if (shown) pieces.push(shown)
    from = cut
  }
  rewriter.end()
  const decoder = new TextDecoder()
  return {
    shown: decoder.decode(joinPieces(pieces)),
    ending: decoder.decode(rewriter.encodeEnding(testCharge)),
    rewriter,
  }
}

/** The JSON of every data frame, without the terminator. */
export function framesOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: ') && frame !== 'data: [DONE]')
    .map((frame) => JSON.parse(frame.slice(6)) as Record<string, unknown>)
}

/** A provider's stream from its data payloads. */
export function streamOf(payloads: readonly unknown[], { done = true } = {}): Uint8Array {
  const frames = payloads.map(
    (payload) => `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`,
  )
  return new TextEncoder().encode(`${frames.join('')}${done ? 'data: [DONE]\n\n' : ''}`)
}
