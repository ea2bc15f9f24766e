import { eventFrame } from '../../simulator/bedrock/frames.ts'
import type { ConverseReply, Json } from './table.ts'

// What Bedrock's Converse sends: written by hand after its documents.

const usualUsage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }

/** A whole answer. */
export function converseWhole({ content, stop, usage = usualUsage }: ConverseReply): Json {
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: stop,
    usage,
    metrics: { latencyMs: 1 },
  }
}

/** The same as a stream of binary frames: texts and inputs of tools in two pieces each. */
export function converseStream(reply: ConverseReply): Uint8Array<ArrayBuffer> {
  const { content, stop, usage = usualUsage } = reply
  return Buffer.concat([
    frame('messageStart', { role: 'assistant' }),
    ...content.flatMap(blockFrames),
    frame('messageStop', { stopReason: stop }),
    frame('metadata', { usage, metrics: { latencyMs: 1 } }),
  ])
}

function blockFrames(block: Json, contentBlockIndex: number): Uint8Array[] {
  const { toolUse, image } = block as { toolUse?: Json; image?: Json }
  const start = startOf(toolUse, image)
  return [
    ...(start === null ? [] : [frame('contentBlockStart', { contentBlockIndex, start })]),
    ...deltasOf(block).map((delta) => frame('contentBlockDelta', { contentBlockIndex, delta })),
    frame('contentBlockStop', { contentBlockIndex }),
  ]
}

/** Only calls and pictures have an event at their beginning. */
function startOf(toolUse: Json | undefined, image: Json | undefined): Json | null {
  if (toolUse !== undefined) return { toolUse: { toolUseId: toolUse['toolUseId'], name: toolUse['name'] } }
  return image === undefined ? null : { image: { format: image['format'] } }
}

function deltasOf({ text, toolUse, reasoningContent, citationsContent, image }: Json): Json[] {
  if (toolUse !== undefined)
    return halves(JSON.stringify((toolUse as Json)['input'])).map((input) => ({ toolUse: { input } }))
  if (image !== undefined) return [{ image: { source: (image as Json)['source'] } }]
  if (citationsContent !== undefined) {
    const { content, citations } = citationsContent as { content: { text: string }[]; citations: Json[] }
    const told = content.flatMap((each) => halves(each.text)).map((piece) => ({ text: piece }))
    return [...told, ...citations.map((citation) => ({ citation }))]
  }
  if (reasoningContent === undefined) return halves(String(text)).map((piece) => ({ text: piece }))
  const { reasoningText, redactedContent } = reasoningContent as {
    reasoningText?: { text: string; signature?: string }
    redactedContent?: string
  }
  if (reasoningText === undefined) return [{ reasoningContent: { redactedContent } }]
  const { text: words, signature } = reasoningText
  const thought = [...halves(words).map((piece) => ({ text: piece })), ...(signature ? [{ signature }] : [])]
  return thought.map((piece) => ({ reasoningContent: piece }))
}

function halves(text: string): string[] {
  const half = Math.ceil(text.length / 2)
  return [text.slice(0, half), text.slice(half)]
}

function frame(type: string, value: Json): Uint8Array {
  return eventFrame(type, value, 'abc')
}
