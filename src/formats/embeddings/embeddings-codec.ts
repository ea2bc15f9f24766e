import type { BodyPiece } from '../../core/body.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer, MeterReading } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import { startReading } from '../text/usage-readers.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../json/values.ts'
import type { EncodedRequest } from '../text/halves.ts'
import { showCharge, showMetadata } from '../text/shown-charge.ts'
import { fieldError } from '../../core/errors.ts'
import { editPieces, hasMember, memberBytes, memberValue, parseJsonDocument } from '../../json/document.ts'
import { toBuffer } from '../../json/bytes.ts'
import { readReportedError } from '../upstream-errors.ts'
import { encodeVectors, parseJson } from './vectors.ts'
import { unreadable } from '../upstream-json.ts'
import type { EmbeddingsQuirks } from './quirks.ts'
import { countInputs, inputKindOf } from './read-request.ts'

/** Members of a request that only the gateway reads. */
export const gatewayMembers: ReadonlySet<string> = new Set([
  'provider',
  'session_id',
  'trace',
  'models',
  'headrace',
  'usage',
])

/**
 * Writes the caller's body for this provider. Throws `invalid_request` for inputs that the provider would read as
 * another kind of input.
 */
export function encodeEmbeddingsRequest(
  call: TextCall,
  endpoint: Endpoint,
  quirks: EmbeddingsQuirks,
): EncodedRequest {
  const { document } = call
  const kind = inputKindOf(document)
  if (kind === 'tokens' && !quirks.tokenArrays) {
    throw fieldError('input', `must be text for ${call.model}: its provider does not take token numbers.`)
  }
  if (kind === 'content' && !quirks.contentInputs) {
    throw fieldError(
      'input',
      `must be text for ${call.model}: content of several modalities is not supported.`,
    )
  }
  const set: Record<string, string | Uint8Array> = { model: JSON.stringify(endpoint.upstreamModel) }
  if (quirks.int8) set['encoding_format'] = '"base64_int8"'
  const remove: string[] = []
  const dropped: string[] = []
  for (const name of document.members.keys()) {
    if (gatewayMembers.has(name) || !hasMember(document, name)) remove.push(name)
    else if (!isKept(name, quirks)) {
      remove.push(name)
      if (name !== 'encoding_format') dropped.push(name)
    }
  }
  const dimensions = memberBytes(document, 'dimensions')
  if (quirks.dimensionsField !== null && quirks.dimensionsField !== 'dimensions' && dimensions !== null) {
    remove.push('dimensions')
    if (hasMember(document, 'dimensions')) set[quirks.dimensionsField] = dimensions
  }
  const type = typeof quirks.inputType === 'object' ? memberValue(document, 'input_type') : null
  if (
    typeof type === 'string' &&
    typeof quirks.inputType === 'object' &&
    Object.hasOwn(quirks.inputType, type)
  )
    set['input_type'] = JSON.stringify(quirks.inputType[type])
  return { body: editPieces(document, { set, remove }), dropped }
}

function isKept(name: string, quirks: EmbeddingsQuirks): boolean {
  switch (name) {
    case 'model':
    case 'input':
      return true
    case 'dimensions':
      return quirks.dimensionsField !== null
    case 'encoding_format':
      return quirks.base64
    case 'input_type':
      return quirks.inputType !== false
    case 'user':
      return quirks.user
    default:
      return quirks.unknownMembers === 'forward'
  }
}

/**
 * A provider's vectors in the order of the inputs and in the encoding that the caller asked for. Bytes that are already
 * so pass through. Throws `provider_failed` for an unreadable answer, and for one without exactly one vector for each
 * input: a caller that pairs vectors with inputs by position would not notice.
 */
export function decodeEmbeddingsAnswer(
  bytes: Uint8Array,
  context: AnswerContext,
  call: TextCall,
  { int8 }: Pick<EmbeddingsQuirks, 'int8'> = { int8: false },
): DecodedAnswer {
  const document = parseAnswer(bytes)
  const wire = {
    id: readMember(document, 'id'),
    model: readMember(document, 'model'),
    error: readMember(document, 'error'),
    usage: readMember(document, 'usage'),
  }
  if (wire.error !== undefined && wire.error !== null) throw readReportedError(wire.error, context)
  const dataBytes = memberBytes(document, 'data')
  if (dataBytes === null || dataBytes[0] !== 0x5b) throw unreadable('it has no data')
  const data = encodeVectors(toBuffer(dataBytes), {
    encoding: call.encodingFormat ?? 'float',
    count: countInputs(call.document),
    isInt8: int8,
  })
  return showVectors({ data, reading: readUsage(wire), details: readModalities(wire.usage) }, context)
}

/** An answer in the caller's format around vectors that are JSON already. */
export function showVectors(
  { data, reading, details = {} }: { data: BodyPiece; reading: MeterReading; details?: object },
  context: AnswerContext,
): DecodedAnswer {
  return {
    reading,
    encode(charge) {
      const reported = charge.isEstimated ? null : reading.usage
      const promptTokens = (reported ?? charge.usage).inputTokens
      const rest = JSON.stringify({
        model: context.model,
        id: context.generationId,
        provider: context.provider,
        usage: { prompt_tokens: promptTokens, total_tokens: promptTokens, ...details, ...showCharge(charge) },
        ...showMetadata(charge),
      })
      return ['{"object":"list","data":', data, `,${rest.slice(1)}`]
    },
  }
}

function parseAnswer(bytes: Uint8Array) {
  try {
    return parseJsonDocument(bytes)
  } catch (cause) {
    throw unreadable('it is not a JSON object', cause)
  }
}

function readMember(document: ReturnType<typeof parseAnswer>, name: string): unknown {
  const bytes = memberBytes(document, name)
  return bytes === null ? undefined : parseJson(toBuffer(bytes))
}

function readUsage(wire: { id: unknown; model: unknown; usage: unknown }): MeterReading {
  const reading = startReading(wire)
  const usage = isRecord(wire.usage) ? wire.usage : {}
  const counts = [tokenCountOrNull(usage['prompt_tokens']), tokenCountOrNull(usage['total_tokens'])]
  const told = counts.filter((count) => count !== null)
  if (told.length > 0) {
    // Vectors have no output tokens, so tokens that only `total_tokens` counts are input too.
    reading.usage = { ...noUsage, inputTokens: Math.max(...told) }
    reading.source = 'provider'
  }
  reading.upstreamModel = filledTextOrNull(wire.model)
  return reading
}

const modalityCounts = ['audio_tokens', 'file_tokens', 'image_tokens', 'text_tokens', 'video_tokens'] as const

/** Counts by modality, as the contract shows them: only counts above zero, and only when there are at least two. */
function readModalities(usage: unknown): { prompt_tokens_details?: Record<string, number> } {
  const wire = isRecord(usage) ? usage['prompt_tokens_details'] : null
  if (!isRecord(wire)) return {}
  const details: Record<string, number> = {}
  for (const name of modalityCounts) {
    const count = tokenCountOrNull(wire[name])
    if (count !== null && count > 0) details[name] = count
  }
  return Object.keys(details).length < 2 ? {} : { prompt_tokens_details: details }
}
