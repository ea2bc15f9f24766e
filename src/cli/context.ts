import type { BroadcastRepository } from '../delivery/broadcasts/broadcast-repository.ts'
import type { SigningSecrets } from '../delivery/signing-secrets.ts'
import type { Keys } from '../access/keys.ts'
import type { Members } from '../access/people/members.ts'
import type { OrganizationRepository } from '../access/organization-repository.ts'
import type { Accounts } from '../billing/ledger/accounts.ts'
import type { PriceListsRepository } from '../catalog/price-lists/price-lists-repository.ts'
import type { InvariantFinding } from '../billing/ledger/invariants.ts'
import type { CliBlobs } from './doctor/health-repository.ts'
import type { CliDatabase } from './try/receipt-repository.ts'

/** The part of the configuration that commands read; only the gateway knows all of it. */
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
  /** The operator's own model names, and the meaning of aliases. */
  readonly names: Readonly<Record<string, unknown>>
  readonly aliases: Readonly<Record<string, string>>
  /** Where generations are told; absent for nowhere. */
  readonly broadcasts?: readonly { readonly name: string; readonly kind: string; readonly url: string }[]
}

/** Options for reading the configuration. */
export interface ConfigOptions {
  /**
   * Whether the configuration file that the environment names may be missing, because the command is about to write it.
   */
  mayLackFile?: boolean
  /** A file's new content, which the command is about to write; its secrets may be missing. */
  draft?: { path: string; value: unknown }
}

/** The environment of a command. A command gets all else over HTTP. */
export interface CommandContext {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** Writes to stdout, unchanged. */
  write(text: string): void
  /** Writes to stderr, unchanged. */
  writeError(text: string): void
  /** Whether stdout is a terminal; colours and moving bars need one. */
  isTty: boolean
  /** Width of the terminal in characters. */
  columns: number
  /** Asks the user and resolves with the typed line; with an empty line when there is no terminal. */
  ask(question: string): Promise<string>
  /**
   * The configuration from file and environment. Throws an error whose `problems` names all problems, one line each.
   */
  readConfig(options?: ConfigOptions): CliConfig
  /** The configuration with its secrets replaced. */
  printConfig(config: CliConfig): string
  /** Starts the gateway and resolves with the exit code once it has stopped. */
  serve(config: CliConfig): Promise<number>
  /** Opens storage without a server; works while a gateway runs on it. Rejects with `storage_unavailable`. */
  openStorage(config: CliConfig): Promise<CliStorage>
  /** Starts the simulator alone. Rejects when the port is taken. */
  startSimulator(options: { port?: number; host?: string }): Promise<{ url: string; stop(): Promise<void> }>
  /** How many files a process that starts here may open; null when the system does not report it. */
  descriptorLimit?(): number | null
  /** Asks every configured provider whether it accepts its key; absent when that is impossible. */
  checkProviders?(config: CliConfig): Promise<readonly ProviderCheck[]>
}

/** The answer of one configured provider. */
export interface ProviderCheck {
  provider: string
  ok: boolean
  /** One line for the operator; never a key. */
  message: string
}

/** Storage and the operations of commands on it. The command that opened it closes it. */
export interface CliStorage {
  database: CliDatabase
  organizations: Pick<OrganizationRepository, 'load' | 'loadFirst' | 'update'>
  keys: Keys
  members: Pick<Members, 'makeLinkFor'>
  accounts: Accounts
  priceLists: PriceListsRepository
  signingSecrets: Pick<SigningSecrets, 'rotate'>
  broadcasts: Pick<BroadcastRepository, 'listStates' | 'again'>
  /** The store of the batches' payloads; absent when it cannot be listed. */
  blobs?: CliBlobs
  /** The place of the payloads: machine and folder, or bucket and server. */
  blobLocation?: string
  /** A line saying that the payloads here belong to another database; null when they are this database's. */
  checkBlobStore?(): Promise<string | null>
  /** The broken invariants of the money; empty when there are none. */
  checkInvariants(): Promise<readonly InvariantFinding[]>
  close(): Promise<void>
}
