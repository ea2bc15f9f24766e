import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import { customIdLengthMax } from '../../core/limits.ts'
import { CustomIds } from './custom-ids.ts'
import type { ItemMembers } from './item-walk.ts'
import { ItemWalk } from './item-walk.ts'
import { memberBytes } from './json-walk.ts'

/** The body of an item whose shape is right, and what was found in it; shares memory with the item. */
export interface CheckedBody {
  body: Buffer
  /** Members of the body; null when they were not looked for. */
  members: Pick<ItemMembers, 'messages' | 'input'> | null
}

/** What is looked at of an item. */
interface LookedAt {
  customId: unknown
  body: unknown
  model: unknown
  stream: unknown
}

const decoder = new TextDecoder('utf-8', { fatal: true })
// oxlint-disable-next-line no-control-regex -- exactly these are refused
const controlPattern = /[\u0000-\u001f\u007f-\u009f]/

/** Checks items as they come, and remembers of all of them just what later checks need: ids and two models. */
export class ItemChecks {
  readonly #ids = new CustomIds()
  readonly #walk = new ItemWalk()
  /** The first two distinct models in bodies: whatever the batch's model is, one of them shows the first mismatch. */
  #models: { model: string; index: number }[] = []

  /**
   * Checks the next item. Throws `invalid_request` for its shape and `unprocessable` for its custom id.
   */
  check(index: number, bytes: Buffer): CheckedBody {
    const where = `requests[${index}]`
    const members = this.#walk.walk(bytes)
    const item = members === null ? parseItem(where, bytes) : readMembers(members)
    const customId = checkCustomIdShape(where, item.customId)
    if (item.body === undefined) throw invalid(`${where}.body`, 'is required')
    if (!isObject(item.body)) throw invalid(`${where}.body`, 'must be an object')
    this.#checkBody(index, item)
    this.#checkCustomId(where, customId)
    const body = members === null ? memberBytes(bytes, 'body') : members.body
    assert(body, 'an item with a body has its bytes')
    return { body, members }
  }

  /** Of an item too large to be read only the id matters; its beginning must show it. */
  checkOversized(index: number, head: Buffer): string {
    const where = `requests[${index}]`
    const match = /^\{\s*"custom_id"\s*:\s*("(?:[^"\\]|\\.)*")\s*,/.exec(
      head.toString('utf8', 0, oversizedHeadBytes),
    )
    const customId = match === null ? null : JSON.parse(match[1] ?? '""')
    if (typeof customId !== 'string' || customId === '') {
      throw new GatewayError(
        'payload_too_large',
        `${where} is too large, and custom_id is not its first member.`,
        {
          param: where,
        },
      )
    }
    this.#checkCustomId(where, customId)
    return customId
  }

  /** The check of `body.model` that had to wait for the batch's model; throws `invalid_request` for the first mismatch. */
  checkModels(batchModel: string): void {
    const expected = withoutVariant(batchModel)
    const wrong = this.#models.find(({ model }) => withoutVariant(model) !== expected)
    if (!wrong) return
    const found = JSON.stringify(wrong.model)
    const problem = `is ${found}, but the batch's model is ${JSON.stringify(batchModel)}; leave it out or make them equal`
    throw invalid(`requests[${wrong.index}].body.model`, problem)
  }

  #checkBody(index: number, { model, stream }: LookedAt): void {
    if (stream === true) {
      throw invalid(`requests[${index}].body.stream`, 'must not be true: a batch returns whole results')
    }
    if (model === undefined) return
    if (typeof model !== 'string') throw invalid(`requests[${index}].body.model`, 'must be a string')
    if (this.#models.length < 2 && this.#models[0]?.model !== model) this.#rememberModel(model, index)
  }

  #rememberModel(model: string, index: number): void {
    const [first] = this.#models
    if (first && withoutVariant(first.model) === withoutVariant(model)) return
    this.#models.push({ model, index })
  }

  #checkCustomId(where: string, customId: string): void {
    if (customId.length > customIdLengthMax && [...customId].length > customIdLengthMax) {
      throw unprocessable(where, `must have at most ${customIdLengthMax} characters`)
    }
    if (controlPattern.test(customId)) throw unprocessable(where, 'must not contain control characters')
    if (!this.#ids.add(customId)) {
      throw unprocessable(where, `${JSON.stringify(customId)} is a duplicate; every item needs its own`)
    }
  }
}

/** How much of an oversized item is looked at for its id. */
const oversizedHeadBytes = 4_096

/** Anything to stand for a body that is an object, of which nothing more is looked at. */
const someObject = Object.freeze({})

/** Of values known to be valid JSON; large ones are not built. */
function readMembers({ custom_id: customId, body, model, stream }: ItemMembers): LookedAt {
  return {
    customId: readScalar(customId),
    body: body?.[0] === 0x7b ? someObject : readScalar(body),
    model: readScalar(model),
    stream: readScalar(stream),
  }
}

/** A list or an object is none of the values that a scalar may have, and its content does not matter. */
function readScalar(bytes: Buffer | undefined): unknown {
  if (bytes === undefined) return undefined
  const first = bytes[0]
  if (first === 0x7b || first === 0x5b) return null
  return JSON.parse(bytes.toString('utf8')) as unknown
}

function parseItem(where: string, bytes: Uint8Array): LookedAt {
  let item: unknown
  try {
    item = JSON.parse(decoder.decode(bytes))
  } catch {
    throw new GatewayError('invalid_request', `${where} is not valid JSON in UTF-8.`, { param: where })
  }
  if (!isObject(item)) throw invalid(where, 'must be an object with custom_id and body')
  const { custom_id: customId, body } = item
  const { model, stream } = isObject(body) ? body : {}
  return { customId, body, model, stream }
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(field: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${field} ${problem}.`, { param: field })
}

function unprocessable(where: string, problem: string): GatewayError {
  return new GatewayError('unprocessable', `${where}.custom_id ${problem}.`, { param: `${where}.custom_id` })
}
