import { ApiError } from '../../errors.ts'
import { googleErrorObject } from '../../gemini/errors.ts'
import { isObject, type JsonObject } from '../../json.ts'
import type { Reply } from '../../reply.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { base64Reply, keyBehind, memberOf, refusalStyle, speedOf } from '../speech-api.ts'
import type { Saying } from '../speaking.ts'

/** Refusals have Google's common form; the documents of this interface do not state their texts. */
const style = refusalStyle({
  keyOf: ({ authorization }) => keyBehind('Bearer', authorization),
  usual: {},
  body: (error) => ({ error: googleErrorObject(error) }),
})

function refusal(message: string): ApiError {
  return new ApiError({ status: 400, message })
}

/** The members of the body, and the members of each of them. */
const members: Readonly<Record<string, readonly string[]>> = {
  input: ['text', 'ssml', 'markup', 'multiSpeakerMarkup', 'prompt', 'customPronunciations'],
  voice: ['languageCode', 'name', 'modelName', 'ssmlGender', 'voiceClone', 'multiSpeakerVoiceConfig'],
  audioConfig: [
    'audioEncoding',
    'speakingRate',
    'pitch',
    'volumeGainDb',
    'sampleRateHertz',
    'effectsProfileId',
  ],
}

function checkMembers(json: JsonObject): void {
  for (const [name, value] of Object.entries(json)) {
    const known = Object.hasOwn(members, name) ? members[name] : undefined
    if (known === undefined) throw refusal(`${name} is not a member of the request.`)
    if (!isObject(value)) throw refusal(`${name} must be an object.`)
    const unknown = Object.keys(value).find((member) => !known.includes(member))
    if (unknown !== undefined) throw refusal(`${name}.${unknown} is not a member of the request.`)
  }
}

function textOf(json: JsonObject): string {
  const text = memberOf(json, 'input', 'text')
  const isOther = ['ssml', 'markup', 'multiSpeakerMarkup'].some(
    (name) => memberOf(json, 'input', name) !== undefined,
  )
  if (isOther) throw refusal('This stand-in speaks input.text alone.')
  if (typeof text !== 'string' || text === '') throw refusal('input.text is required.')
  if (Buffer.byteLength(text) > 5_000) throw refusal('input.text must have at most 5000 bytes.')
  return text
}

function voiceOf(json: JsonObject): string {
  const languageCode = memberOf(json, 'voice', 'languageCode')
  if (typeof languageCode !== 'string' || !/^[a-z]{2,3}-(?:[A-Z]{2}|\d{3})$/.test(languageCode))
    throw refusal('voice.languageCode must be a language with its region.')
  const name = memberOf(json, 'voice', 'name') ?? ''
  if (typeof name !== 'string') throw refusal('voice.name must be a text.')
  // The name begins with the language, so a missing voice is `en-US-Chirp3-HD-missing`. The words of the refusal are not documented.
  if (/(?:^|-)missing/.test(name)) throw refusal('Request contains an invalid argument.')
  return name
}

/** The encodings that this simulator can make; it cannot make `OGG_OPUS`, `MULAW`, `ALAW` and `M4A`. */
const sounds: Readonly<Record<string, Pick<Saying, 'sound' | 'kilobits'>>> = {
  LINEAR16: { sound: 'wav' },
  PCM: { sound: 's16le' },
  MP3: { sound: 'mp3', kilobits: 32 },
}

function soundOf(json: JsonObject): Pick<Saying, 'sound' | 'kilobits' | 'rate' | 'speed'> {
  const { audioEncoding, speakingRate, pitch, volumeGainDb, sampleRateHertz, effectsProfileId } = memberOf(
    json,
    'audioConfig',
  ) as JsonObject
  const encoding = String(audioEncoding)
  const sound = Object.hasOwn(sounds, encoding) ? sounds[encoding] : undefined
  if (sound === undefined) throw refusal('audioConfig.audioEncoding is not supported.')
  const speed = within(speakingRate, 'speakingRate', { min: 0.25, max: 2 })
  within(pitch, 'pitch', { min: -20, max: 20 })
  within(volumeGainDb, 'volumeGainDb', { min: -96, max: 16 })
  if (effectsProfileId !== undefined && !Array.isArray(effectsProfileId))
    throw refusal('audioConfig.effectsProfileId must be a list.')
  // Neither the usual rate nor the bounds of others are documented.
  const rate = sampleRateHertz ?? 24_000
  if (typeof rate !== 'number' || !Number.isInteger(rate) || rate < 8_000 || rate > 48_000)
    throw refusal('audioConfig.sampleRateHertz is out of range.')
  return { ...sound, rate, speed }
}

function within(value: unknown, name: string, { min, max }: { min: number; max: number }): number {
  const refuse = () => refusal(`audioConfig.${name} must be between ${min} and ${max}.`)
  return speedOf(value, { min, max, refuse })
}

function speak(asked: AudioAsked): Promise<Reply> {
  const { json } = asked
  if (json === null || !isObject(json['audioConfig'])) throw refusal('audioConfig is required.')
  checkMembers(json)
  return base64Reply(asked, { text: textOf(json), voice: voiceOf(json), ...soundOf(json) }, 'audioContent')
}

/** Google Cloud's speech in one object of JSON. */
export const googleCloudTts: AudioApi = {
  slug: 'google-cloud-tts',
  style,
  uploadBytesMax: 1_000_000,
  modelOf: ({ json }) => String(memberOf(json, 'voice', 'modelName') ?? '') || null,
  operations: [{ method: 'POST', path: /^\/v1\/text:synthesize$/, answer: speak }],
}
