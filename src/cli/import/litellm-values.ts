import type { YamlValue } from './yaml-tree.ts'

/** The sources of values for secrets and URLs. */
export interface ValueSources {
  /** `environment_variables` of the file. */
  variables: ReadonlyMap<string, YamlValue>
  env: Readonly<Record<string, string | undefined>>
}

/** A secret as the configuration refers to it, and the text to store for it. */
export interface CarriedSecret {
  /** `${env:NAME}` or `${file:./secrets/NAME}`. */
  reference: string
  /** The text to store in that file; absent when a variable holds it. */
  stored?: { file: string; text: string }
}

const variablePattern = /^os\.environ\/([\w]+)$/

/** The variable that a value names; null when the value is literal. */
export function variableOf(text: string): string | null {
  return variablePattern.exec(text)?.[1] ?? null
}

/** A secret whose text is kept out of the configuration: by its variable, or in a file of that name. */
export function carrySecret(text: string, name: string, { variables }: ValueSources): CarriedSecret {
  const variable = variableOf(text)
  const literal = variable === null ? text : variables.get(variable)?.text()
  if (literal == null || (variable !== null && variableOf(literal) !== null))
    return { reference: `\${env:${variable ?? name}}` }
  const file = `secrets/${variable ?? name}`
  return { reference: `\${file:./${file}}`, stored: { file, text: literal } }
}

/** A value's text; for a named variable of the file or the environment its value, or null when it is not set. */
export function plainText(text: string, { variables, env }: ValueSources): string | null {
  const variable = variableOf(text)
  if (variable === null) return text
  const told = variables.get(variable)?.text()
  return told != null && variableOf(told) === null ? told : (env[variable] ?? null)
}

const decimal = /^(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/

/** A decimal amount times a power of ten, exactly, in plain digits; null for any other text. */
export function scaled(text: string, power: number): string | null {
  const match = decimal.exec(text.trim().replace(/^\+/, ''))
  if (!match || `${match[1]}${match[2]}` === '') return null
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = `${whole}${fraction}`
  const point = whole.length + Number(exponent) + power
  if (Math.abs(point) > 40) return null
  const padded = point > 0 ? digits.padEnd(point, '0') : `${'0'.repeat(1 - point)}${digits}`
  const at = Math.max(1, point)
  const shownWhole = padded.slice(0, at).replace(/^0+(?=\d)/, '')
  const shownFraction = padded.slice(at).replace(/0+$/, '')
  return shownFraction === '' ? shownWhole : `${shownWhole}.${shownFraction}`
}
