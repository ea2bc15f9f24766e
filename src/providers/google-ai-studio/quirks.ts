import type { GeminiModel, GeminiThinking } from '../../formats/text/gemini/quirks.ts'

/** The budgets of 2.5, from https://ai.google.dev/gemini-api/docs/thinking (seen in 2026-10). */
function thinkingOf(model: string): GeminiThinking {
  if (/gemini-2\.5-flash-lite/.test(model)) return { kind: 'budget', min: 512, max: 24_576, canBeOff: true }
  if (/gemini-2\.5-flash/.test(model)) return { kind: 'budget', min: 0, max: 24_576, canBeOff: true }
  if (/gemini-2\.5/.test(model)) return { kind: 'budget', min: 128, max: 32_768, canBeOff: false }
  if (/gemini-[3-9]/.test(model)) return { kind: 'level', levelMin: /flash/.test(model) ? 'MINIMAL' : 'LOW' }
  return { kind: 'none' }
}

/** The members that a model takes, by its name. */
export function geminiOf(model: string): GeminiModel {
  const isNewest = /gemini-[3-9]/.test(model)
  const isOpen = /gemma/.test(model)
  return {
    thinking: thinkingOf(model),
    // Gemma refuses `systemInstruction`.
    hasSystem: !isOpen,
    hasResultMedia: isNewest,
    // https://ai.google.dev/gemini-api/docs/thought-signatures: from Gemini 3 on, a call without its signature is
    // refused.
    needsSignatures: isNewest,
    hasFormatBesideTools: isNewest,
    outputTokensMax: isNewest || /gemini-2\.5/.test(model) ? 65_536 : 8_192,
  }
}
