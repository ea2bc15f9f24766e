import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import { customIdLengthMax } from '../../core/limits/batches.ts'
import { CustomIds } from './custom-ids.ts'
import { contractForm, type ItemForm } from './item-form.ts'
import type { WalkedItem } from './item-walk.ts'
import { type PlaceOf, valueNotJson } from '../../json/faults.ts'
import type { ValuePlace } from '../../json/proof.ts'
import { findMember } from '../../json/scan.ts'
import { isRecord } from '../../json/values.ts'

/** Models of one batch whose items name them; each has segments of its own, of which one is in memory. */
export const batchModelsMax = 16

const openBrace = 0x7b
const openBracket = 0x5b

const decoder = new TextDecoder('utf-8', { fatal: true })
// oxlint-disable-next-line no-control-regex -- exactly these are refused
const controlPattern = /[\u0000-\u001f\u007f-\u009f]/

/** Checks items as they arrive. Of all items it remembers only what later checks need: the ids and two models. */
export class ItemChecks {
  readonly #ids = new CustomIds()
  /**
   * The first two distinct models in bodies. Whatever the batch's model turns out to be, the first mismatch is one of
   * them.
   */
  #models: { model: string; index: number }[] = []
  /** The models of items that may have several, in the order in which they were first named. */
  readonly #mixed = new Set<string>()
  #lastModel: string | null = null
  readonly #form: ItemForm

  constructor(form: ItemForm = contractForm) {
    this.#form = form
  }

  /**
   * Checks an item and returns where its body lies; `walked` has the members that are already found. Throws
   * `invalid_request` for the item's shape and `unprocessable` for its custom id.
   */
  check(index: number, bytes: Buffer, walked: WalkedItem | null, placeOf: PlaceOf): ValuePlace {
    const { custom_id: customId, model, stream } = walked ?? {}
    const body = walked?.[this.#form.request]
    if (!customId || !body || bytes[body.start] !== openBrace) return this.#checkParsed(index, bytes, placeOf)
    const isPlain = isPlainId(bytes, customId)
    const id = isPlain ? null : checkCustomIdShape(`requests[${index}]`, valueAt(bytes, customId))
    if (model ?? stream ?? this.#form.namesModel)
      this.#checkBody(index, { model: valueAt(bytes, model), stream: valueAt(bytes, stream) })
    if (id !== null) {
      this.#checkCustomId(index, id)
      return body
    }
    if (!this.#ids.addAscii(bytes, customId.start + 1, customId.end - 1))
      throw duplicate(index, bytes.toString('latin1', customId.start + 1, customId.end - 1))
    return body
  }

  /** The slow way, by `JSON.parse`: for items that the fast way cannot prove, and for every error message. */
  #checkParsed(index: number, bytes: Buffer, placeOf: PlaceOf): ValuePlace {
    const where = `requests[${index}]`
    const item = parseItem(where, bytes, placeOf, this.#form)
    const { request } = this.#form
    const found = findMember(bytes, request)
    for (const [name, { count }] of [
      ['custom_id', findMember(bytes, 'custom_id')],
      [request, found],
    ] as const)
      if (count > 1) throw invalid(`${where}.${name}`, 'appears twice; send it once')
    const customId = checkCustomIdShape(where, item['custom_id'])
    const body = item[request]
    if (body === undefined) throw invalid(`${where}.${request}`, 'is required')
    if (!isRecord(body)) throw invalid(`${where}.${request}`, 'must be an object')
    this.#checkBody(index, body)
    this.#checkCustomId(index, customId)
    assert(found.value, 'an item with a body has its bytes')
    const start = found.value.byteOffset - bytes.byteOffset
    return { start, end: start + found.value.length }
  }

  /** An item that is too large to be read still needs its id; the id must stand at its beginning. */
  checkOversized(index: number, head: Buffer): string {
    const where = `requests[${index}]`
    const match = /^\{\s*"custom_id"\s*:\s*("(?:[^"\\]|\\.)*")\s*,/.exec(
      head.toString('utf8', 0, oversizedHeadBytes),
    )
    const customId = match?.[1] === undefined ? '' : parseString(match[1])
    if (customId === '') {
      throw new GatewayError(
        'payload_too_large',
        `${where} is too large, and custom_id is not its first member.`,
        {
          param: where,
        },
      )
    }
    this.#checkCustomId(index, customId)
    return customId
  }

  /** The first model that an item named; null while none did. */
  get firstModel(): string | null {
    return this.#models[0]?.model ?? null
  }

  /** The model of the item that was checked last; null where it named none. */
  get lastModel(): string | null {
    return this.#lastModel
  }

  /** Every model, where items may have several. */
  get mixedModels(): Iterable<string> {
    return this.#mixed
  }

  /** Checks each model of an item once the batch's model is known. Throws `invalid_request` for the first mismatch. */
  checkModels(batchModel: string): void {
    if (this.#form.mixesModels) return
    const expected = withoutVariant(batchModel)
    const wrong = this.#models.find(({ model }) => withoutVariant(model) !== expected)
    if (!wrong) return
    const { request, namesModel } = this.#form
    const remedy = namesModel ? 'send each model as a batch of its own' : 'leave it out or make them equal'
    const found = JSON.stringify(wrong.model)
    const problem = `is ${found}, but the batch's model is ${JSON.stringify(batchModel)}; ${remedy}`
    throw invalid(`requests[${wrong.index}].${request}.model`, problem)
  }

  #checkBody(index: number, { model, stream }: { model?: unknown; stream?: unknown }): void {
    const where = `requests[${index}].${this.#form.request}`
    if (stream === true) throw invalid(`${where}.stream`, 'must not be true: a batch returns whole results')
    if (model === undefined && this.#form.namesModel) throw invalid(`${where}.model`, 'is required')
    if (model === undefined) return
    if (typeof model !== 'string') throw invalid(`${where}.model`, 'must be a string')
    this.#lastModel = model
    if (this.#form.mixesModels) this.#noteMixed(where, model)
    if (this.#models.length < 2 && this.#models[0]?.model !== model) this.#rememberModel(model, index)
  }

  #noteMixed(where: string, model: string): void {
    if (this.#mixed.has(model)) return
    if (this.#mixed.size === batchModelsMax)
      throw invalid(
        `${where}.model`,
        `is ${JSON.stringify(model)}, one more than the ${batchModelsMax} models that a batch may have; send it as another batch`,
      )
    this.#mixed.add(model)
  }

  #rememberModel(model: string, index: number): void {
    const [first] = this.#models
    if (first && withoutVariant(first.model) === withoutVariant(model)) return
    this.#models.push({ model, index })
  }

  #checkCustomId(index: number, customId: string): void {
    const where = `requests[${index}]`
    if (customId.length > customIdLengthMax && [...customId].length > customIdLengthMax) {
      throw unprocessable(where, `must have at most ${customIdLengthMax} characters`)
    }
    if (controlPattern.test(customId)) throw unprocessable(where, 'must not contain control characters')
    if (!this.#ids.add(customId)) throw duplicate(index, customId)
  }
}

/** The bytes of an oversized item in which its id is looked for. */
const oversizedHeadBytes = 4_096

/** Whether a value is a string of allowed length that needs no further check. */
function isPlainId(bytes: Buffer, { start, end }: ValuePlace): boolean {
  if (bytes[start] !== 0x22 || end - start < 3 || end - start > customIdLengthMax + 2) return false
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] ?? 0
    if (byte === 0x5c || byte >= 0x7f) return false
  }
  return true
}

/**
 * The value of bytes that are known to be valid JSON; null for a list or an object, whose content does not matter here.
 */
function valueAt(bytes: Buffer, place: ValuePlace | undefined): unknown {
  if (place === undefined) return undefined
  const first = bytes[place.start]
  if (first === openBrace || first === openBracket) return null
  return JSON.parse(bytes.toString('utf8', place.start, place.end)) as unknown
}

function parseItem(
  where: string,
  bytes: Uint8Array,
  placeOf: PlaceOf,
  { request }: ItemForm,
): Record<string, unknown> {
  let item: unknown
  try {
    item = JSON.parse(decoder.decode(bytes))
  } catch {
    throw valueNotJson(where, bytes, placeOf)
  }
  if (!isRecord(item)) throw invalid(where, `must be an object with custom_id and ${request}`)
  return item
}

/** The text of a JSON string; empty for bytes that are not one. */
function parseString(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return ''
  }
}

function checkCustomIdShape(where: string, customId: unknown): string {
  if (customId === undefined) throw invalid(`${where}.custom_id`, 'is required')
  if (typeof customId !== 'string') throw invalid(`${where}.custom_id`, 'must be a string')
  if (customId === '') throw invalid(`${where}.custom_id`, 'must not be empty')
  return customId
}

function withoutVariant(model: string): string {
  return model.endsWith(':batch') ? model.slice(0, -':batch'.length) : model
}

function invalid(field: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${field} ${problem}.`, { param: field })
}

function duplicate(index: number, customId: string): GatewayError {
  const problem = `${JSON.stringify(customId)} is a duplicate; every item needs its own`
  return unprocessable(`requests[${index}]`, problem)
}

function unprocessable(where: string, problem: string): GatewayError {
  return new GatewayError('unprocessable', `${where}.custom_id ${problem}.`, { param: `${where}.custom_id` })
}
