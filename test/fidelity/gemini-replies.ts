import type { GeminiReply, Json } from './table.ts'

// What a provider of Gemini's format sends: written by hand after its documents.

const usualUsage = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }
const head = { modelVersion: 'up', responseId: 'r1' }

/** A whole answer. */
export function geminiWhole(reply: GeminiReply): Json {
  const { parts, finish, candidate = {}, usage = usualUsage, blocked } = reply
  if (blocked !== undefined) return { promptFeedback: blocked, usageMetadata: usage, ...head }
  const content = { role: 'model', parts }
  return {
    candidates: [{ content, finishReason: finish, index: 0, ...candidate }],
    usageMetadata: usage,
    ...head,
  }
}

/** The same as a stream: every part in a frame of its own, the end behind them with an empty text. */
export function geminiStream(reply: GeminiReply): string {
  if (reply.blocked !== undefined) return frame(geminiWhole(reply))
  const told = reply.parts.map((part) => ({
    candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }],
    usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
    ...head,
  }))
  return [...told, geminiWhole({ ...reply, parts: [{ text: '' }] })].map(frame).join('')
}

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
