/** The thread of `bare-proxy.ts` that makes a row and two postings a call durable, everything that waits in one commit. */
import { Database } from 'bun:sqlite'

declare const self: Worker

/** A call as it is kept: its id, model, tokens in and out, cost in nanocredits, and when (Unix ms). */
export type DurableRow = [
  id: string,
  model: string,
  inputTokens: number,
  outputTokens: number,
  cost: number,
  atMs: number,
]

let database: Database | null = null

function open(path: string): Database {
  const opened = new Database(path, { create: true })
  opened.run('pragma journal_mode = wal')
  opened.run('pragma synchronous = full')
  opened.run(`create table usage (id text primary key, model text, input_tokens integer, output_tokens integer,
    cost integer, at_ms integer) without rowid`)
  opened.run('create table postings (usage_id text, account text, amount integer)')
  opened.run('create table budgets (id text primary key, spent integer)')
  opened.run("insert into budgets values ('organization', 0)")
  return opened
}

function write(target: Database, rows: readonly DurableRow[]): void {
  const usage = target.query('insert into usage values (?, ?, ?, ?, ?, ?)')
  const postings = target.query("insert into postings values (?1, 'organization', -?2), (?1, 'revenue', ?2)")
  let sum = 0
  target.run('begin immediate')
  for (const row of rows) {
    const [id, , , , cost] = row
    usage.run(...row)
    postings.run(id, cost)
    sum += cost
  }
  target.query("update budgets set spent = spent + ? where id = 'organization'").run(sum)
  target.run('commit')
}

self.onmessage = ({ data }: MessageEvent<string | DurableRow[]>) => {
  if (typeof data === 'string') database = open(data)
  else if (database !== null) write(database, data)
  postMessage(null)
}
