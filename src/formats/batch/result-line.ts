import { findMember } from '../../json/scan.ts'
import type { ValuePlace } from '../../json/proof.ts'
import { assert } from '../../core/assert.ts'
import type { WalkedItem } from './item-walk.ts'
import { GatewayError } from '../../core/errors.ts'
import type { BatchId } from '../../core/ids.ts'
import { resultIdOf } from '../../canonical/batch.ts'

const newline = 0x0a

/** Why an item failed, as the contract's result item shows it. */
export interface ItemError {
  type: string
  message: string
  param: string | null
  error_type?: string
}

/** The answer to an item, as the contract's result item shows it; the body is JSON. */
export interface ItemResponse {
  status_code: number
  request_id: string | null
  body: Uint8Array
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** An error as a result item shows it: the same names as in an error response, without HTTP. */
export function itemErrorOf(error: GatewayError): ItemError {
  return { type: error.type, message: error.message, param: error.param, error_type: error.contractType }
}

/**
 * One line of `results`, newline included. The body's bytes are unchanged; its caller has proven that they are JSON,
 * because one broken body would break the whole array of results.
 */
export function resultLine(
  place: { batchId: BatchId; item: number; customId: string },
  outcome: { response: ItemResponse | null; error: ItemError | null },
): Buffer {
  const head = `{"id":${JSON.stringify(resultIdOf(place.batchId, place.item))},"custom_id":${JSON.stringify(place.customId)}`
  const { response } = outcome
  if (response === null) {
    return Buffer.from(`${head},"response":null,"error":${JSON.stringify(failureOf(outcome))}}\n`)
  }
  const status = `"status_code":${response.status_code},"request_id":${JSON.stringify(response.request_id)}`
  return Buffer.concat([
    Buffer.from(`${head},"response":{${status},"body":`),
    onOneLine(response.body),
    Buffer.from(`},"error":null}\n`),
  ])
}

/** Why an item without an answer failed. */
export function failureOf({ error }: { error: ItemError | null }): ItemError {
  return error ?? itemErrorOf(new GatewayError('internal', 'Internal server error.'))
}

/** Whether these bytes are one JSON value in valid UTF-8. */
export function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(decoder.decode(bytes))
    return true
  } catch {
    return false
  }
}

/** Replaces newlines by spaces. In JSON a raw newline is always white space between tokens, never part of a string. */
export function onOneLine(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(newline)) return bytes
  return bytes.map((byte) => (byte === newline ? 0x20 : byte))
}

/** What a stored item's line says. */
export interface ItemInput {
  customId: string
  /** Null when the body was too large to be kept. */
  body: Buffer | null
}

/** The stored line of an item whose body was too large to be kept; its result will be an error. */
export function withoutBody(customId: string): Buffer {
  return Buffer.from(JSON.stringify({ custom_id: customId }))
}

/** A checked item of another dialect, as it is stored; `body` says where its request lies. */
export function storedLine(item: Buffer, body: ValuePlace, walked: WalkedItem | null): Buffer {
  const id = walked?.custom_id
  const customId = id ? item.subarray(id.start, id.end) : findMember(item, 'custom_id').value
  assert(customId, 'an item is checked before it is kept')
  return Buffer.concat([storedHead, customId, storedBody, item.subarray(body.start, body.end), storedEnd])
}

const storedHead = Buffer.from('{"custom_id":')
const storedBody = Buffer.from(',"body":')
const storedEnd = Buffer.from('}')

/** Reads an item's line as ingest wrote it. */
export function readItemLine(line: Buffer): ItemInput {
  const { value: customId } = findMember(line, 'custom_id')
  return {
    customId: JSON.parse(customId?.toString('utf8') ?? '""') as string,
    body: findMember(line, 'body').value,
  }
}
