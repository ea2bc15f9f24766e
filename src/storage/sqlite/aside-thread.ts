import { SqliteReader } from './reader.ts'
import type { FromAside, ToAside } from './aside-protocol.ts'
import { isUnavailable } from './sqlite-failures.ts'
import { codeOf } from '../../core/error-code.ts'
import { StorageFailure } from '../database.ts'

declare const self: Worker

let reader: SqliteReader | null = null

// The thread's entry: one read after the other, on a connection of its own.
self.onmessage = async (event: MessageEvent<ToAside>): Promise<void> => {
  const message = event.data
  if (message.kind === 'open') {
    reader = new SqliteReader(message.path)
    return
  }
  if (message.kind === 'close') {
    reader?.close()
    return send({ kind: 'closed' })
  }
  send(await answer(message))
}

async function answer({ number, sql, params }: Extract<ToAside, { kind: 'query' }>): Promise<FromAside> {
  try {
    return { kind: 'rows', number, rows: (await reader?.query(sql, params)) ?? [] }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof StorageFailure ? error.cause : error
    const message = cause instanceof Error ? cause.message : String(cause)
    const isStorage = cause instanceof StorageFailure || isUnavailable(cause)
    return { kind: 'failed', number, code: codeOf(cause), message, isStorage }
  }
}

function send(message: FromAside): void {
  self.postMessage(message)
}
