import type { Keys } from '../access/keys.ts'
import type { OrganizationRepository } from '../access/organization-repository.ts'
import type { Accounts } from '../billing/ledger/accounts.ts'
import type { PriceListsRepository } from '../catalog/price-lists/price-lists-repository.ts'
import type { InvariantFinding } from '../billing/ledger/invariants.ts'
import type { CliBlobs } from './doctor/health-repository.ts'
import type { CliDatabase } from './try/receipt-repository.ts'

/** What commands read of the configuration; the gateway alone knows all of it. */
export interface CliConfig {
  readonly host: string
  readonly port: number
  readonly basePath: string
  readonly dataFolder: string
  /** `sqlite:` and a path, or `postgres://…`. */
  readonly databaseUrl: string
  /** The path of the file it was read from; null without a file. */
  readonly file: string | null
  readonly providers: readonly {
    readonly id?: string | undefined
    readonly preset: string
    readonly models?: readonly { readonly id: string }[]
  }[]
  /** The operator's own names of models, and what other names mean. */
  readonly names: Readonly<Record<string, unknown>>
  readonly aliases: Readonly<Record<string, string>>
}

/** Options for reading the configuration. */
export interface ConfigOptions {
  /** Whether the configuration file that the environment names may be missing, because the command is about to write it. */
  mayLackFile?: boolean
  /** A file's new content, which the command is about to write; its secrets may be missing. */
  draft?: { path: string; value: unknown }
}

/** What a command may use of its surroundings. Everything else it gets over HTTP. */
export interface CommandContext {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** To stdout, as it is. */
  write(text: string): void
  /** To stderr, as it is. */
  writeError(text: string): void
  /** Whether stdout is a terminal: colours and bars that move only then. */
  isTty: boolean
  /** Width of the terminal in characters. */
  columns: number
  /** Asks the user and resolves with the typed line; with an empty line when there is no terminal. */
  ask(question: string): Promise<string>
  /** Configuration from file and environment. Throws an error with `problems`, one line each, which names them all. */
  readConfig(options?: ConfigOptions): CliConfig
  /** The configuration as it may be shown, secrets replaced. */
  printConfig(config: CliConfig): string
  /** Starts the gateway and resolves with the exit code once it has stopped. */
  serve(config: CliConfig): Promise<number>
  /** Opens storage without a server; works while a gateway runs on it. Rejects with `storage_unavailable`. */
  openStorage(config: CliConfig): Promise<CliStorage>
  /** Starts the simulator alone. Rejects when the port is taken. */
  startSimulator(options: { port?: number; host?: string }): Promise<{ url: string; stop(): Promise<void> }>
  /** How many files a process that starts here may have open; null where the system does not tell. */
  descriptorLimit?(): number | null
  /** Asks every configured provider whether it accepts its key; absent where that is not possible. */
  checkProviders?(config: CliConfig): Promise<readonly ProviderCheck[]>
}

/** The answer of one configured provider. */
export interface ProviderCheck {
  provider: string
  ok: boolean
  /** One line for the operator; never a key. */
  message: string
}

/** Storage and what commands do with it. Closed by the command that opened it. */
export interface CliStorage {
  database: CliDatabase
  organizations: Pick<OrganizationRepository, 'load' | 'loadFirst' | 'update'>
  keys: Keys
  accounts: Accounts
  priceLists: PriceListsRepository
  /** Where the payloads of batches are; absent where they cannot be listed. */
  blobs?: CliBlobs
  /** A line that says that the payloads here are not the database's; null when they are. */
  checkBlobStore?(): Promise<string | null>
  /** The broken invariants of the money; empty when there are none. */
  checkInvariants(): Promise<readonly InvariantFinding[]>
  close(): Promise<void>
}
