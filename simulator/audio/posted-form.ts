import type { ApiError } from '../errors.ts'
import type { UploadedFile } from '../uploaded-file.ts'
import { type AudioAsked, fieldOf, fieldsOf } from './audio-api.ts'
import { hear, type Heard } from './hearing.ts'
import { fetchFile } from './remote-file.ts'

/** The names of a form's fields, and whether each may be repeated. */
export type FieldRules = Readonly<Record<string, 'once' | 'many'>>

/** A provider's errors for forms that it refuses. */
export interface FormRefusals {
  /** A field is wrong, missing or unknown; `field` is its name as sent. */
  field(field: string, message: string): ApiError
  /** The sound cannot be read. */
  sound(message: string): ApiError
  unreachable(): ApiError
}

/** How a provider takes sound in a form. */
export interface SoundRules {
  fields: FieldRules
  /** The name of the part with the file, when it is not `file`. */
  filePart?: string
  /** The field for a URL, which may be `file` itself; null when URLs are not taken. */
  urlField: string | null
  /** Reads a URL that has no field of its own, for example one inside a JSON field; `urlField` is then null. */
  urlOf?(asked: AudioAsked): string | null
  /** The part with the file must be the last. */
  isFileLast?: boolean
  bytesMax: number
  /** Reads the description of headerless samples, if the form may contain them. */
  samplesOf?(asked: AudioAsked): { rate: number; channels: number } | undefined
  refuse: FormRefusals
}

/** Checks the form against the rules and throws their errors; does not read the sound. */
export function checkForm(asked: AudioAsked, rules: SoundRules): void {
  const { body } = asked
  const { fields, urlField, refuse, filePart = 'file' } = rules
  const { form } = body
  if (form === null) throw refuse.field(filePart, 'The request must be multipart/form-data.')
  const seen = new Set<string>()
  for (const { name } of form.fields) {
    const isAddress = name === urlField
    const rule = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (rule === undefined && !isAddress) throw refuse.field(name, `Unknown field '${name}'.`)
    if (rule !== 'many' && seen.has(name)) throw refuse.field(name, `Field '${name}' was given twice.`)
    seen.add(name)
  }
  const files = form.files.filter(({ name }) => name === filePart)
  const stray = form.files.find(({ name }) => name !== filePart)
  if (stray !== undefined) throw refuse.field(stray.name, `Unknown field '${stray.name}'.`)
  const addresses = addressesIn(asked, rules)
  const named =
    urlField === null || urlField === filePart ? `'${filePart}'` : `'${filePart}' or '${urlField}'`
  if (files.length + addresses.length !== 1) throw refuse.field(filePart, `Send exactly one of ${named}.`)
  if (files[0]?.bytes === 0) throw refuse.sound('The file is empty.')
  if (rules.isFileLast === true && form.partNames.at(-1) !== filePart)
    throw refuse.field(filePart, `The part '${filePart}' must be the last of the form.`)
}

function addressesIn(asked: AudioAsked, { urlField, urlOf }: SoundRules): string[] {
  const inside = urlOf?.(asked) ?? null
  const named = urlField === null ? [] : fieldsOf(asked.body, urlField)
  return inside === null ? named : [...named, inside]
}

/** Listens to the file of a checked form, or to the file at its URL. */
export async function hearForm(asked: AudioAsked, rules: SoundRules): Promise<Heard> {
  const { body, mount, faults, programs, signal } = asked
  const samples = rules.samplesOf?.(asked)
  const reading = {
    ...(samples === undefined ? {} : { samples }),
    unrecognised: () => rules.refuse.sound('The format of the audio was not recognised.'),
    undecodable: () => rules.refuse.sound('The audio could not be decoded.'),
  }
  const listen = (file: UploadedFile) =>
    hear(file, { faults, settings: mount.settings, programs, signal }, reading)
  const [file] = body.form?.files ?? []
  if (file !== undefined) return listen(file)
  const remote = await fetchFile(addressesIn(asked, rules).at(-1) ?? '', {
    bytesMax: rules.bytesMax,
    signal,
    unreachable: rules.refuse.unreachable,
  })
  try {
    return await listen(remote.file)
  } finally {
    await remote.dispose()
  }
}

/** A switch, written as `true` or `false`. Throws for any other word. */
export function switchOf({ body }: AudioAsked, name: string, refuse: FormRefusals): boolean {
  const value = fieldOf(body, name)
  if (value === null || value === 'false') return false
  if (value === 'true') return true
  throw refuse.field(name, `'${name}' must be true or false, not '${value}'.`)
}

/** A value that must be one of a few. Throws for any other. */
export function choiceOf<Choice extends string>(
  { body }: AudioAsked,
  name: string,
  { choices, usual, refuse }: { choices: readonly Choice[]; usual: Choice; refuse: FormRefusals },
): Choice {
  const value = fieldOf(body, name) ?? usual
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  throw refuse.field(name, `'${name}' must be one of ${choices.join(', ')}, not '${value}'.`)
}

/** The wanted granularities, from a field of this name. Throws for an unknown one. */
export function granularitiesOf(
  { body }: AudioAsked,
  name: string,
  refuse: FormRefusals,
): { words: boolean; segments: boolean; any: boolean } {
  const wanted = fieldsOf(body, name)
  const wrong = wanted.find((one) => one !== 'word' && one !== 'segment')
  if (wrong !== undefined) throw refuse.field(name, `'${name}' must be word or segment, not '${wrong}'.`)
  const [words, segments] = [wanted.includes('word'), wanted.includes('segment')]
  return { words, segments: segments || !words, any: wanted.length > 0 }
}

/** Throws unless the field is a number from 0 to 1, or absent. */
export function checkTemperature({ body }: AudioAsked, refuse: FormRefusals): void {
  const value = fieldOf(body, 'temperature')
  if (value === null || (value.trim() !== '' && Number(value) >= 0 && Number(value) <= 1)) return
  throw refuse.field('temperature', `'temperature' must be from 0 to 1, not '${value}'.`)
}

/**
 * Throws unless the language is absent, one of the known ones (any two lower-case letters without a list), or one of
 * the other allowed words.
 */
export function languageOf(
  { body }: AudioAsked,
  {
    others = [],
    known,
    refuse,
  }: { others?: readonly string[]; known?: ReadonlySet<string>; refuse: FormRefusals },
): string | null {
  const value = fieldOf(body, 'language')
  if (value === null || others.includes(value)) return value
  if (known === undefined ? /^[a-z]{2}$/.test(value) : known.has(value)) return value
  throw refuse.field('language', `The language '${value}' is not supported.`)
}
