import { SchemaMismatch, SchemaOccupied } from '../database.ts'
import type { FromWriter, OpenFailure, ToWriter } from './protocol.ts'
import { toWireFailure } from './sqlite-failures.ts'
import { parseWireText } from './wire-text.ts'
import { Writer } from './writer.ts'

declare const self: Worker

let writer: Writer | null = null

// The thread's entry: it only passes messages on to `Writer`.
self.onmessage = (event: MessageEvent<ToWriter | string>): void => {
  const message = typeof event.data === 'string' ? parseWireText(event.data) : event.data
  if (message.kind === 'open') return send(open(message))
  if (message.kind === 'group' && writer) {
    writer.learn(message.statements, message.reset)
    return send({ kind: 'group', outcomes: writer.run(message.units) })
  }
  writer?.close()
  writer = null
  send({ kind: 'closed' })
}

function open({ options }: Extract<ToWriter, { kind: 'open' }>): FromWriter {
  try {
    writer = new Writer(options)
    return { kind: 'opened', failure: null }
  } catch (error) {
    return { kind: 'opened', failure: toOpenFailure(error) }
  }
}

function toOpenFailure(error: unknown): OpenFailure {
  if (error instanceof SchemaMismatch) return { kind: 'schema', found: error.found, needed: error.needed }
  if (error instanceof SchemaOccupied) return { kind: 'occupied', occupants: error.occupants }
  return toWireFailure(error, false)
}

function send(message: FromWriter): void {
  self.postMessage(message)
}
