import type { ReportedUsage } from '../../../canonical/text/events.ts'
import type { MediaTokens } from '../../../canonical/upstream.ts'
import { noUsage } from '../../../canonical/usage.ts'
import { tierOf } from '../usage-readers.ts'
import { isRecord, recordsOrEmpty, tokenCountOrNull } from '../../../json/values.ts'
import { settleCounts } from '../token-counts.ts'

/**
 * The format's usage. It counts thoughts beside the output, and text that the provider's tools read beside the prompt;
 * here both are included. Null when it has no usable count, which happens in unfinished answers.
 */
export function readGeminiUsage(wire: unknown): ReportedUsage | null {
  if (!isRecord(wire)) return null
  const prompt = tokenCountOrNull(wire['promptTokenCount'])
  const total = tokenCountOrNull(wire['totalTokenCount'])
  if (prompt === null) return null
  const input = prompt + (tokenCountOrNull(wire['toolUsePromptTokenCount']) ?? 0)
  const thoughts = tokenCountOrNull(wire['thoughtsTokenCount']) ?? 0
  const said = readSaid(wire['candidatesTokenCount'], total === null ? null : total - input - thoughts)
  if (said === null) return null
  const heard = [
    ...recordsOrEmpty(wire['promptTokensDetails']),
    ...recordsOrEmpty(wire['toolUsePromptTokensDetails']),
  ]
  const shown = recordsOrEmpty(wire['candidatesTokensDetails'])
  const counts = settleCounts(
    {
      input,
      output: said + thoughts,
      total,
      cached: tokenCountOrNull(wire['cachedContentTokenCount']) ?? 0,
      written: 0,
      inputAudio: sumOf(heard, 'AUDIO'),
      reasoning: thoughts,
      outputAudio: sumOf(shown, 'AUDIO'),
    },
    { isReasoningApart: false, isAudioHeard: false },
  )
  return {
    usage: {
      ...noUsage,
      inputTokens: counts.input,
      cachedInputTokens: counts.cached,
      inputAudioTokens: counts.inputAudio,
      outputTokens: counts.output,
      reasoningTokens: counts.reasoning,
      outputAudioTokens: counts.outputAudio,
    },
    mediaTokens: mediaOf({
      file_tokens: sumOf(heard, 'DOCUMENT'),
      video_tokens: sumOf(heard, 'VIDEO'),
      image_tokens: sumOf(shown, 'IMAGE'),
    }),
    serviceTier: tierOf({ service_tier: wire['serviceTier'] })?.toLowerCase() ?? null,
    reportedCostNanocredits: null,
  }
}

/** The format omits counts of zero, so a missing one follows from the sum; null when that is unknown too. */
function readSaid(wire: unknown, rest: number | null): number | null {
  if (wire !== undefined && wire !== null) return tokenCountOrNull(wire)
  return rest === null ? null : tokenCountOrNull(Math.max(0, rest))
}

function sumOf(details: readonly Record<string, unknown>[], modality: string): number {
  return details
    .filter((detail) => detail['modality'] === modality)
    .reduce((sum, detail) => sum + (tokenCountOrNull(detail['tokenCount']) ?? 0), 0)
}

function mediaOf(counts: Required<MediaTokens>): MediaTokens | null {
  const told = Object.entries(counts).filter(([, count]) => count > 0)
  return told.length === 0 ? null : Object.fromEntries(told)
}
