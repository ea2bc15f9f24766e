import type { OutputFormat } from '../../../canonical/text/conversation.ts'
import type { PromisedOutput } from '../../../canonical/upstream.ts'
import { fieldError, GatewayError } from '../../../core/errors.ts'
import { isRecord, withPlainNumbers } from '../../../json/values.ts'
import type { JsonSchema } from './json-schema.ts'
import { fitsSchema, uncheckedKeyword } from './schema-check.ts'

/** The prompt text for a provider that cannot enforce the form of the answer. */
export interface ToldOutput {
  promised: PromisedOutput
  instruction: string
}

const nothingElse = 'and nothing else: no words around it, no code fence.'

/**
 * The form of an answer in words, and the check of the answer. Null when any text will do. Throws `invalid_request` for
 * a schema that cannot be checked; `name` is the caller's member. With `isSent` the provider also gets the schema and
 * enforces keywords that are not checked here.
 */
export function tellOutput(output: OutputFormat, name: string, isSent = false): ToldOutput | null {
  if (output.kind === 'text') return null
  if (output.kind === 'json' || output.schema === null)
    return { promised: { kind: 'json' }, instruction: `Answer with one JSON object ${nothingElse}` }
  const { schema } = output
  refuseUnchecked(schema, { name, isSent })
  return {
    promised: { kind: 'schema', schema: withPlainNumbers(schema) },
    instruction: `Answer with JSON that fits this JSON schema ${nothingElse}\n${JSON.stringify(schema)}`,
  }
}

function refuseUnchecked(schema: JsonSchema, { name, isSent }: { name: string; isSent: boolean }): void {
  const keyword = uncheckedKeyword(schema, isSent)
  if (keyword === null) return
  throw fieldError(
    name,
    `has "${keyword}" in its schema, to which the chosen provider cannot be held. Leave it out or choose another model.`,
  )
}

/** Checks the text of a whole answer. Throws `unfit_answer` when it does not have the promised form. */
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
  try {
    return fitsSchema(value, schema)
  } catch (cause) {
    throw unfit('it could not be checked', cause)
  }
}

function unfit(reason: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'unfit_answer',
    'The model did not answer in the form that was asked for, of which it was only told in the prompt. Choose a model that can be held to it.',
    { cause: new Error(reason, { cause }) },
  )
}
