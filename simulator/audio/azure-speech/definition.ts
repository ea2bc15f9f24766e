import { isObject, type JsonObject } from '../../json.ts'
import { type AudioAsked, fieldOf } from '../audio-api.ts'
import { refusal } from './refusals.ts'

/** The members of an accepted definition that the fake reads. */
export interface Definition {
  audioUrl: string | null
  /** Empty when the provider is to detect the language. */
  locales: readonly string[]
  channels: readonly number[] | null
  diarize: boolean
}

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string' && value !== ''
const isSwitch: Check = (value) => typeof value === 'boolean'
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const from =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === 'number' && value >= min && value <= max
const objectOf =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && wrongMember(value, members) === undefined

/** A language with its region: `en-US`. */
const isLocale: Check = (value) =>
  typeof value === 'string' && /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?-(?:[A-Z]{2}|\d{3})$/.test(value)

const profanityModes = new Set<unknown>(['None', 'Removed', 'Tags', 'Masked'])

const members: Readonly<Record<string, Check>> = {
  audioUrl: isText,
  locales: listOf(isLocale),
  models: (value) => isObject(value) && Object.values(value).every(isText),
  profanityFilterMode: (value) => profanityModes.has(value),
  diarization: objectOf({
    enabled: isSwitch,
    maxSpeakers: (value) => isCount(value) && from(2, 35)(value),
  }),
  channels: (value) => listOf(isCount)(value) && from(1, 2)((value as unknown[]).length),
  phraseList: objectOf({ phrases: listOf(isText), biasingWeight: from(0, 2) }),
  enhancedMode: objectOf({
    enabled: isSwitch,
    task: isText,
    targetLanguage: isText,
    prompt: listOf(isText),
  }),
}

function wrongMember(value: JsonObject, checks: Readonly<Record<string, Check>>): string | undefined {
  return Object.keys(value).find((name) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    return check === undefined || !check(value[name])
  })
}

/** The form's part `definition`. Throws a 400 for invalid JSON, an unknown member and a wrong value. */
export function definitionOf({ body }: AudioAsked): Definition {
  const wire = parsed(fieldOf(body, 'definition'))
  const wrong = wrongMember(wire, members)
  if (wrong !== undefined) throw refusal(`The member ${wrong} of definition is unknown or not valid.`)
  const { audioUrl, locales, channels, diarization } = wire
  return {
    audioUrl: typeof audioUrl === 'string' ? audioUrl : null,
    locales: (locales ?? []) as string[],
    channels: (channels ?? null) as number[] | null,
    diarize: isObject(diarization) && diarization['enabled'] === true,
  }
}

function parsed(text: string | null): JsonObject {
  if (text === null) throw refusal('The part definition is missing.')
  try {
    const wire: unknown = JSON.parse(text)
    if (isObject(wire)) return wire
  } catch {
    throw refusal('The part definition is no JSON.')
  }
  throw refusal('The part definition is no JSON object.')
}
