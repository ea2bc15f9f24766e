import { validate, type Schema } from '@cfworker/json-schema'
import type { OutputFormat } from '../canonical/text/conversation.ts'
import type { PromisedOutput } from '../canonical/upstream.ts'
import { GatewayError } from '../core/errors.ts'
import { outputCheckStepsMax } from '../core/limits/text.ts'
import { isRecord } from './chat/chat-media.ts'
import { fieldError } from './field-error.ts'
import { schemasIn, type JsonSchema } from './json-schema.ts'

/** What a provider that cannot be given the form of the answer is told in the prompt. */
export interface ToldOutput {
  promised: PromisedOutput
  instruction: string
}

const nothingElse = 'and nothing else: no words around it, no code fence.'

/**
 * The form of an answer in words, and what the answer is checked against. Null where any text will do. Throws
 * `invalid_request` for a schema that cannot be checked; `name` is the caller's member.
 */
export function tellOutput(output: OutputFormat, name: string): ToldOutput | null {
  if (output.kind === 'text') return null
  if (output.kind === 'json' || output.schema === null)
    return { promised: { kind: 'json' }, instruction: `Answer with one JSON object ${nothingElse}` }
  const { schema } = output
  refuseUnchecked(schema, name)
  return {
    promised: { kind: 'schema', schema },
    instruction: `Answer with JSON that fits this JSON schema ${nothingElse}\n${JSON.stringify(schema)}`,
  }
}

/** Regular expressions of a caller's may run for hours, and references may lead anywhere. */
const uncheckedKeywords = [
  'pattern',
  'patternProperties',
  'uniqueItems',
  '$id',
  'id',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
] as const

function refuseUnchecked(schema: JsonSchema, name: string): void {
  for (const each of schemasIn(schema)) {
    const { $ref: reference } = each
    const isForeign = reference !== undefined && !isLocal(reference)
    const keyword = isForeign ? '$ref' : uncheckedKeywords.find((word) => each[word] !== undefined)
    if (keyword === undefined) continue
    throw fieldError(
      name,
      `has "${keyword}" in its schema, to which the chosen provider cannot be held. Leave it out or choose another model.`,
    )
  }
}

function isLocal(reference: unknown): boolean {
  return typeof reference === 'string' && (reference === '#' || reference.startsWith('#/'))
}

/** Checks the text of a whole answer. Throws `provider_failed` when it is not what was asked for. */
export function checkOutput(promised: PromisedOutput, text: string): void {
  const value = parse(text)
  if (promised.kind === 'json') {
    if (!isRecord(value)) throw unfit('it is no JSON object')
    return
  }
  if (!isFit(value, promised.schema)) throw unfit('it does not fit the schema')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unfit('it is no JSON', cause)
  }
}

function isFit(value: unknown, schema: JsonSchema): boolean {
  // The library notes in a schema where it lies.
  const counted = structuredClone(schema) as Schema
  countSteps(counted)
  try {
    return validate(value, counted, '2020-12').valid
  } catch (cause) {
    throw unfit('it could not be checked', cause)
  }
}

/**
 * Ends a check that goes on for too long: references can make that of a small schema endless. The library reads every
 * keyword of a schema that it comes to, and this one is refused in a caller's. A format is what it is by the standard: a note.
 */
function countSteps(schema: Schema): void {
  let left = outputCheckStepsMax
  for (const each of schemasIn(schema)) {
    delete each['format']
    const steps = 1 + sizeOf(each['enum']) + sizeOf(each['required']) + sizeOf(each['properties'])
    Object.defineProperty(each, '$recursiveRef', {
      enumerable: false,
      get() {
        left -= steps
        if (left < 0) throw new RangeError('too many steps')
        return undefined
      },
    })
  }
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

function unfit(reason: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'provider_failed',
    'The provider did not answer in the form that was asked for. Ask again, or choose a model that can be held to it.',
    { cause: new Error(reason, { cause }) },
  )
}
