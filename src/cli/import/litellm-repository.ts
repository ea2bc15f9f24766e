import { SQL } from 'bun'

/** The rows that an import reads and writes at once. */
const importPageRows = 200
import { CommandFailure } from '../failure.ts'

/** A row with its column names, as JSON; whole numbers beyond 2^53 are bigints, and relevant times Unix milliseconds in `…_ms`. */
export type LitellmRow = Readonly<Record<string, unknown>>

/** Reads LiteLLM's database; changes nothing there. */
export interface LitellmDatabase {
  /** The rows of a small table in the order of its key; empty when the table does not exist. */
  table(name: LitellmTable): Promise<readonly LitellmRow[]>
  /** All keys in the order of their hashes, page by page. Throws CommandFailure when the table does not exist. */
  keys(): AsyncGenerator<readonly LitellmRow[]>
  close(): Promise<void>
}

const tables = {
  LiteLLM_TeamTable: 'team_id',
  LiteLLM_BudgetTable: 'budget_id',
  LiteLLM_ModelTable: 'id',
  LiteLLM_ProxyModelTable: 'model_id',
  LiteLLM_TeamMembership: 'team_id, user_id',
  LiteLLM_UserTable: 'user_id',
  LiteLLM_OrganizationTable: 'organization_id',
  LiteLLM_EndUserTable: 'user_id',
} as const

/** A table that is read whole. */
export type LitellmTable = keyof typeof tables

const undefinedTable = '42P01'
const connectSeconds = 10

/** Opens LiteLLM's PostgreSQL database for reading. Rejects with CommandFailure when it cannot be reached. */
export async function openLitellm(url: string): Promise<LitellmDatabase> {
  const sql = connect(url)
  try {
    await sql.unsafe('select 1')
  } catch (error) {
    await sql.close({ timeout: 0 }).catch(() => undefined)
    // The driver's message never contains the password, but the URL may, so the URL is not repeated.
    throw new CommandFailure(`LiteLLM's database cannot be read: ${messageOf(error)}. See --database.`)
  }
  return {
    async table(name) {
      const query = `select to_jsonb(t)::text as row from "${name}" t order by ${tables[name]}`
      return (await rowsOf(sql, query, [])) ?? []
    },
    async *keys() {
      const query = `select (to_jsonb(t) || jsonb_build_object('expires_ms',
        floor(extract(epoch from t.expires at time zone 'UTC') * 1000)))::text as row
        from "LiteLLM_VerificationToken" t where t.token > $1 order by t.token limit ${importPageRows}`
      let last = ''
      for (;;) {
        const page = await rowsOf(sql, query, [last])
        if (page === null)
          throw new CommandFailure(
            'There is no table "LiteLLM_VerificationToken" in the database of --database.',
          )
        if (page.length > 0) yield page
        if (page.length < importPageRows) return
        last = String(page.at(-1)?.['token'])
      }
    },
    close: () => sql.close({ timeout: 0 }),
  }
}

async function rowsOf(sql: SQL, query: string, parameters: unknown[]): Promise<LitellmRow[] | null> {
  try {
    const rows = (await sql.unsafe(query, parameters)) as { row: string }[]
    return rows.map(({ row }) => JSON.parse(row, keepDigits) as LitellmRow)
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'errno' in error && error.errno === undefinedTable)
      return null
    throw new CommandFailure(`LiteLLM's database cannot be read: ${messageOf(error)}. See --database.`)
  }
}

/** PostgreSQL's whole numbers have up to 19 digits; a double with more digits is not exact anyway. */
const wholeNumber = /^-?\d{16,19}$/

/** Keeps a whole number that JavaScript would round as a bigint. */
function keepDigits(_name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value)
  return isRounded && source !== undefined && wholeNumber.test(source) ? BigInt(source) : value
}

/** Removes settings that only Prisma, LiteLLM's database client, understands. */
function connect(url: string): SQL {
  if (!URL.canParse(url) || !/^postgres(ql)?:$/.test(new URL(url).protocol))
    throw new CommandFailure('--database must be an address such as postgres://user:password@host/litellm.', {
      exitCode: 2,
    })
  const address = new URL(url)
  const schema = address.searchParams.get('schema')
  const sslMode = address.searchParams.get('sslmode')
  address.search = sslMode === null ? '' : `?sslmode=${sslMode}`
  return new SQL({
    url: address.href,
    max: 1,
    connectionTimeout: connectSeconds,
    connection: {
      application_name: 'headrace import',
      default_transaction_read_only: 'on',
      ...(schema === null ? {} : { search_path: schema }),
    },
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the connection failed'
}
