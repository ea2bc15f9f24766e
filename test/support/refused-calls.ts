import type { ScriptedUpstream, UpstreamSeen } from './scripted-upstream.ts'

/**
 * Calls whose answers arrive while storage is unavailable. For all but `part`, the caller sees nothing before the
 * charge.
 */
export const refusedKinds = ['json', 'whole', 'begun', 'part', 'speech', 'transcript'] as const

/** A transcript of which the caller has been shown the text, but not the end, while storage is unavailable. */
export const shownTranscript = 'shown-transcribe'

/**
 * Such calls by callers whose format differs from the provider's. All output is in a last frame, which the end of the
 * body completes.
 */
export const translatedKinds = ['responses', 'messages'] as const

/** One of those calls. */
export type RefusedKind =
  | (typeof refusedKinds)[number]
  | (typeof translatedKinds)[number]
  | typeof shownTranscript

const perMillion = { input_per_million: '1000', output_per_million: '1000' }

/**
 * The models that answer them, in the form of a custom provider's configuration; each call costs a hundredth of a
 * credit or more.
 */
export const refusedModels = [
  ...(['json', 'whole', 'begun', 'part', ...translatedKinds] as const).map((name) => ({
    id: `acme/${name}`,
    upstream: name,
    modality: 'language' as const,
    prices: perMillion,
  })),
  {
    id: 'acme/speech',
    upstream: 'speech',
    modality: 'speech' as const,
    prices: { characters_per_million: '1000' },
  },
  {
    id: 'acme/transcript',
    upstream: 'transcript',
    modality: 'transcription' as const,
    prices: { audio_per_minute: '1' },
  },
]

/** The model of `shownTranscript`, of a vendor that streams its transcripts; configured like `refusedModels`. */
export const shownTranscriptModel = {
  id: `acme/${shownTranscript}`,
  upstream: shownTranscript,
  modality: 'transcription' as const,
  prices: { audio_per_minute: '1' },
}

/** The request of a call below `/v1`. */
export function refusedRequest(kind: RefusedKind, sound: Uint8Array): { path: string; body: unknown } {
  const model = `acme/${kind}`
  if (kind === 'speech')
    return { path: '/audio/speech', body: { model, voice: 'any', input: 'A dozen or so characters.' } }
  if (kind === 'transcript' || kind === shownTranscript) {
    const audio = { data: Buffer.from(sound).toString('base64'), format: 'wav' }
    const isStreamed = kind === shownTranscript
    return {
      path: '/audio/transcriptions',
      body: { model, input_audio: audio, ...(isStreamed ? { stream: true } : {}) },
    }
  }
  const messages = [{ role: 'user', content: 'Hello.' }]
  if (kind === 'responses')
    return { path: '/responses', body: { model, max_output_tokens: 20, stream: true, input: 'Hello.' } }
  if (kind === 'messages')
    return { path: '/messages', body: { model, max_tokens: 20, stream: true, messages } }
  return { path: '/chat/completions', body: { model, max_tokens: 20, stream: kind !== 'json', messages } }
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const common = { id: 'c', created: 1, model: 'any' }

/** Usage and end in one last frame, without the empty line that completes a frame. */
function lateStream(): string {
  const chunk = { ...common, object: 'chat.completion.chunk' }
  const begun = { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }
  const choice = { index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }
  const last = { ...chunk, choices: [choice], usage }
  return `data: ${JSON.stringify(begun)}\n\ndata: ${JSON.stringify(last)}`
}

function streamOf(kind: RefusedKind): string {
  if (kind === 'responses' || kind === 'messages') return lateStream()
  const role = { role: 'assistant', content: '' }
  const frames = {
    whole: [{ delta: { ...role, content: 'Hello.' }, finish_reason: 'stop' }],
    begun: [
      { delta: role, finish_reason: null },
      { delta: { content: 'Hello.' }, finish_reason: 'stop' },
    ],
    part: [
      { delta: { ...role, content: 'Hello' }, finish_reason: null },
      { delta: { content: '.' }, finish_reason: null },
      { delta: {}, finish_reason: 'stop' },
    ],
  }[kind as 'whole' | 'begun' | 'part']
  const chunk = { ...common, object: 'chat.completion.chunk' }
  return [
    ...frames.map((choice) => ({ ...chunk, choices: [{ index: 0, ...choice }] })),
    { ...chunk, choices: [], usage },
  ]
    .map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
    .concat('data: [DONE]\n\n')
    .join('')
}

function answerOf({ path, body }: UpstreamSeen): Response {
  if (path.endsWith('/speech'))
    return new Response(new Uint8Array(480).fill(7), { headers: { 'content-type': 'audio/pcm' } })
  if (path.endsWith('/transcriptions')) {
    if (!body.includes(shownTranscript)) return Response.json({ text: 'Hello.', duration: 1 })
    const events = [
      { type: 'transcript.text.delta', delta: 'Hello.' },
      { type: 'transcript.text.done', text: 'Hello.' },
    ]
    const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    return new Response(frames, { headers: { 'content-type': 'text/event-stream' } })
  }
  const { model } = JSON.parse(body) as { model: RefusedKind }
  if (model !== 'json')
    return new Response(streamOf(model), { headers: { 'content-type': 'text/event-stream' } })
  const message = { role: 'assistant', content: 'Hello.' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return Response.json({ ...common, object: 'chat.completion', choices, usage })
}

/** Lets the upstream answer once it has received `count` requests and `isReady`; resolves when it has received them. */
export function answerTogether(
  upstream: ScriptedUpstream,
  count: number,
  isReady: Promise<void>,
): Promise<void> {
  const all = Promise.withResolvers<void>()
  let asked = 0
  upstream.answer(async (seen) => {
    asked += 1
    if (asked === count) all.resolve()
    await isReady
    return answerOf(seen)
  })
  return all.promise
}
