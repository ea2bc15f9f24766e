import { type Answer, answerPrompt } from '../answer.ts'
import type { Call } from '../call.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { asksFlex } from '../flex-tier.ts'
import type { JsonObject } from '../json.ts'
import type { Mount } from '../mounts.ts'
import type { Programs } from '../programs.ts'
import type { Prompt } from '../prompt.ts'
import { lettersOf } from '../random.ts'
import { eventReply, frame, jsonReply, type Reply, type StreamForm } from '../reply.ts'
import { countTokens } from '../tokens.ts'
import { distortUsage } from '../usage.ts'
import { candidateOf } from './answer-parts.ts'
import { lastToolAnswer, readContents, textOf, tokensOfContent } from './contents.ts'
import { googleErrorObject, googleStyle } from './errors.ts'
import { findGoogleModel } from './models.ts'
import { type ContentForm, type ContentRequest, readContentRequest } from './request.ts'
import { readAloud } from './read-aloud.ts'
import { type Sounds, soundsOf, transcriptParts, transcriptText, writtenDown } from './sounds.ts'

/** A request for contents, streamed or not. */
export interface ContentCall {
  call: Call
  mount: Mount
  programs: Programs
  /** The model of the path. */
  name: string
  form: ContentForm
}

/**
 * `POST /models/{model}:generateContent` and `:streamGenerateContent`. Throws `ApiError` for requests that Google
 * refuses.
 */
export async function generateContent({ call, mount, programs, name, form }: ContentCall): Promise<Reply> {
  const { key, signal } = call
  const model = findGoogleModel(name, 'content', call.faults.anyModel)
  const request = readContentRequest(call.body, model, call.faults)
  const listening = { faults: call.faults, settings: mount.settings, programs, signal }
  if (model.isSpeaker === true) return readAloud(request, { ...listening, form, key })
  const sounds = await soundsOf(request, listening, mount.googleFiles)
  const faults = withTranscript(call.faults, sounds, request)
  const input = { ...inputOf(request), sound: sounds.tokens }
  refuseOverflow(input.text + input.media + input.sound, request)
  const prompt = promptOf(request)
  const path = `/v1beta/models/${name}:generateContent`
  const scripted = mount.scripts.play({ path, model: name, prompt })
  const answers = Array.from({ length: request.candidates }, (_, index) =>
    answerPrompt(prompt, faults, scripted, index),
  )
  const head = { modelVersion: model.id, responseId: lettersOf(key, 22) }
  const tier = asksFlex(call.body) ? 'flex' : 'standard'
  const result: Result = { answers, request, input, sounds, faults, head, tier }
  const refusal = answers.find((answer) => answer.refusal !== null)?.refusal ?? null
  if (form === 'whole')
    return {
      ...jsonReply(JSON.stringify(wholeOf(result, refusal))),
      headers: { 'x-gemini-service-tier': tier },
    }
  const frames = refusal === null ? framesOf(result) : [wholeOf(result, refusal)]
  if (form === 'sse') return eventReply(map(frames, frame), contentForm)
  return jsonReply(JSON.stringify([...frames]))
}

interface Result {
  answers: readonly Answer[]
  request: ContentRequest
  input: { text: number; media: number; sound: number }
  sounds: Sounds
  faults: Faults
  head: JsonObject
  /** The tier that serves the request, by Google's name. */
  tier: string
}

/** When a transcript is requested, the answer is the heard text. */
function withTranscript(faults: Faults, { heard }: Sounds, request: ContentRequest): Faults {
  if (heard === null) return faults
  const text = request.transcription === null ? writtenDown(heard, request) : transcriptText(heard)
  return { ...faults, text }
}

function* map<T>(values: Iterable<T>, change: (value: T) => string): Generator<string> {
  for (const value of values) yield change(value)
}

function wholeOf(result: Result, refusal: string | null): JsonObject {
  const { answers, request, sounds, faults, head } = result
  if (refusal !== null) {
    const promptFeedback = { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: refusal }
    return { promptFeedback, ...usageOf(result, null), ...head }
  }
  const candidates = answers.map((answer) => {
    const { whole: said, index, end } = candidateOf(answer, request, faults)
    const whole = timedParts(sounds, request) ?? said
    // An answer without text has a content without parts.
    const content = whole.length === 0 ? { role: 'model' } : { role: 'model', parts: whole }
    return { content, ...end, index }
  })
  return { candidates, ...usageOf(result, sumOf(answers)), ...head }
}

/** The transcript with times, which replaces the answer's text; null when it was not requested. */
function timedParts({ heard }: Sounds, { transcription }: ContentRequest): JsonObject[] | null {
  return heard === null || transcription === null ? null : transcriptParts(heard, transcription)
}

/** The frames of a stream; each is a whole response object with the counts so far. */
function* framesOf(result: Result): Generator<JsonObject> {
  const { answers, request, faults, head } = result
  const candidates = answers.map((answer) => candidateOf(answer, request, faults))
  const said = new Map<number, number>()
  for (const [place, candidate] of candidates.entries()) {
    for (const [at, { parts, tokens, logprobs }] of candidate.frames.entries()) {
      said.set(candidate.index, tokens)
      const isLast = at === candidate.frames.length - 1
      const counted = isLast && place === candidates.length - 1 ? sumOf(answers) : sumOfValues(said)
      const { logprobsResult: _all, ...end } = candidate.end
      const wire = {
        content: { role: 'model', parts },
        ...(logprobs === undefined ? {} : { logprobsResult: logprobs }),
        ...(isLast ? end : {}),
        index: candidate.index,
      }
      yield { candidates: [wire], ...usageOf(result, counted), ...head }
    }
  }
}

const sumOf = (answers: readonly Answer[]) =>
  answers.reduce((sum, { tokens, reasoningTokens }) => sum + tokens - reasoningTokens, 0)
const sumOfValues = (said: ReadonlyMap<number, number>) =>
  [...said.values()].reduce((sum, count) => sum + count, 0)

/** Thoughts are counted beside the answer; counts of zero are omitted. */
function usageOf({ answers, input, faults, tier }: Result, said: number | null): JsonObject {
  const [given = {}] = answers.map(({ usage }) => usage)
  const prompt = given.input ?? input.text + input.media + input.sound
  const cached = faults.cachedTokens ?? given.cacheRead ?? 0
  const thoughts = said === null ? 0 : answers.reduce((sum, { reasoningTokens }) => sum + reasoningTokens, 0)
  const parts = given.input === undefined ? input : { text: prompt, media: 0, sound: 0 }
  const details = { TEXT: parts.text, IMAGE: parts.media, AUDIO: parts.sound }
  const counts = {
    promptTokenCount: prompt,
    ...(cached > 0 ? { cachedContentTokenCount: Math.min(cached, prompt) } : {}),
    ...(said === null || said === 0 ? {} : { candidatesTokenCount: said }),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    totalTokenCount: prompt + (said ?? 0) + thoughts,
    promptTokensDetails: Object.entries(details)
      .filter(([modality, tokenCount]) => modality === 'TEXT' || tokenCount > 0)
      .map(([modality, tokenCount]) => ({ modality, tokenCount })),
    ...(tier === 'standard' ? {} : { serviceTier: tier }),
  }
  const told = distortUsage(counts, faults.usage)
  return told === undefined ? {} : { usageMetadata: told }
}

/** How faults change the frames of a stream. A stream has no end mark. */
const contentForm: StreamForm = {
  broken: 'data: {"candidates":[{"content":{"role":"model","parts":[{"te\n\n',
  isEnd: () => false,
  error(_, { type, message }) {
    const status = type === 'overloaded_error' ? 503 : 500
    const error = googleStyle.errorOf({ status, ...(message === undefined ? {} : { message }) })
    return [frame({ error: googleErrorObject(error) })]
  },
}

function inputOf({ system, contents, tools }: ContentRequest): { text: number; media: number } {
  const all = [...(system === null ? [] : [system]), ...contents].map(tokensOfContent)
  const declared = tools.length === 0 ? 0 : countTokens(JSON.stringify(tools))
  return {
    text: all.reduce((sum, { text }) => sum + text, declared),
    media: all.reduce((sum, { media }) => sum + media, 0),
  }
}

function refuseOverflow(input: number, { model }: ContentRequest): void {
  const most = model.inputTokensMax
  if (input <= most) return
  throw invalidRequest(
    `The input token count (${input}) exceeds the maximum number of tokens allowed (${most}).`,
  )
}

function promptOf(request: ContentRequest): Prompt {
  const { contents } = request
  const isSaid = ({ role, parts }: (typeof contents)[number]) =>
    role === 'user' && parts.some((part) => part['text'] !== undefined)
  const firstAnswer = contents.findIndex(({ role }) => role === 'model')
  const opening = (firstAnswer < 0 ? contents : contents.slice(0, firstAnswer)).filter(isSaid)
  const last = contents.findLast(isSaid)
  return {
    opening: opening.map(textOf).join('\n'),
    said: last === undefined ? '' : textOf(last),
    toolAnswer: lastToolAnswer(contents),
    modelTurns: contents.filter(({ role }) => role === 'model').length,
    length: contents.length,
    tools: request.tools,
    toolChoice: request.toolChoice,
    // Google's API has no member that asks for one call at a time.
    parallelToolCalls: true,
    answerSchema: request.answerSchema,
    stop: request.stop,
    outputTokensMax: request.outputTokensMax,
    thoughtTokens: request.thoughtTokens,
    callIdPrefix: '',
  }
}

/** `POST /models/{model}:countTokens`. */
export function countContentTokens({ call, name }: Pick<ContentCall, 'call' | 'name'>): Reply {
  const model = findGoogleModel(name, 'content', call.faults.anyModel)
  const contents = readContents(call.body['contents'], model, call.faults.lenient === true)
  const counts = contents.map(tokensOfContent)
  const totalTokens = counts.reduce((sum, { text, media }) => sum + text + media, 0)
  return jsonReply(JSON.stringify({ totalTokens }))
}

/** The 404 for an unknown method of a model. */
export function unknownMethod(method: string): ApiError {
  return new ApiError({ status: 404, message: `The method ${method} was not found.` })
}
