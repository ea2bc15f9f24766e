import type { SpeechReference } from '../../canonical/call.ts'

/** References as the contract has them, for gateways that take it over: clips, texts behind them, or one picture. */
export function contractReferences(
  references: readonly SpeechReference[],
): Readonly<Record<string, unknown>> {
  const parts = references.flatMap<unknown>(({ type, data, url, format, transcript }) => {
    if (type === 'image') return [{ type: 'image_url', image_url: { url } }]
    const audio = { ...(data === null ? { url } : { data }), ...(format === null ? {} : { format }) }
    const clip = { type: 'input_audio', input_audio: audio }
    return transcript === null ? [clip] : [clip, { type: 'text', text: transcript }]
  })
  return { input_references: parts }
}
