import { type Authenticator, createAuthenticator } from './access/authenticator.ts'
import { createKeyRepository, type KeyRepository } from './access/key-repository.ts'
import { createKeys, type Keys } from './access/keys.ts'
import { createOrganizations } from './access/organization.ts'
import { createOrganizationRepository } from './access/organization-repository.ts'
import { createRateGate } from './access/rates.ts'
import { createRateRepository } from './access/rate-repository.ts'
import { createMemberRepository } from './access/people/member-repository.ts'
import { createMembers } from './access/people/members.ts'
import { createPasswords } from './access/people/password.ts'
import { createSessionRepository } from './access/people/session-repository.ts'
import { createSessions } from './access/people/sessions.ts'
import { createSignIn } from './access/people/sign-in.ts'
import { createAccounts } from './billing/ledger/accounts.ts'
import { createAccountsRepository } from './billing/ledger/accounts-repository.ts'
import { createBilling, type Report } from './billing/billing.ts'
import { createLearning } from './billing/metering/learning.ts'
import { checkInvariants } from './billing/ledger/invariants.ts'
import { createInvariantsRepository } from './billing/ledger/invariants-repository.ts'
import { createLedger } from './billing/ledger/ledger-repository.ts'
import { createRollupRepository } from './billing/ledger/rollup-repository.ts'
import { createRollup } from './billing/ledger/rollup.ts'
import { createPriceListsRepository } from './catalog/price-lists/price-lists-repository.ts'
import type { CliStorage } from './cli/context.ts'
import { type Config, processEnvironment } from './config.ts'
import { createBroadcastRepository } from './delivery/broadcasts/broadcast-repository.ts'
import { createSeal } from './delivery/master-key.ts'
import { createSigningSecretRepository } from './delivery/signing-secret-repository.ts'
import { createSigningSecrets } from './delivery/signing-secrets.ts'
import { systemClock, type Clock } from './core/clock.ts'
import type { Database } from './storage/database.ts'
import { openDatabase } from './storage/open-database.ts'
import { type BlobHome, checkBlobStore, describeBlobHome, openBlobs } from './storage/open-storage.ts'
import { createTransport } from './transport/http-client.ts'
import { createSignedSend } from './transport/signed-send.ts'

/** How long a command waits for a migration that another process runs: a person waits for the command. */
const migrationCommandWaitMs = 15_000

/** Who may call. */
export function createAccess(database: Database, clock: Clock) {
  const keyRepository = createKeyRepository(database)
  const organizationRepository = createOrganizationRepository(database)
  const authenticator = createAuthenticator({ repository: keyRepository, clock })
  const keys = createKeys({
    repository: keyRepository,
    clock,
    onChange: (keyHash) => authenticator.forgetKey(keyHash),
  })
  return {
    clock,
    authenticator,
    keys,
    people: createPeople({ database, clock, keys, keyRepository, authenticator }),
    organizations: createOrganizations({
      repository: organizationRepository,
      onChange: (organizationId) => authenticator.forgetOrganization(organizationId),
    }),
    rates: createRateGate({ repository: createRateRepository(database), ownerId: database.ownerId, clock }),
    keyRepository,
    organizationRepository,
  }
}

/** Who may sign in. */
function createPeople({
  database,
  clock,
  keys,
  keyRepository,
  authenticator,
}: {
  database: Database
  clock: Clock
  keys: Keys
  keyRepository: KeyRepository
  authenticator: Authenticator
}) {
  const repository = createMemberRepository(database)
  const members = createMembers({ repository, keyRepository, keys, clock })
  const sessions = createSessions({
    repository: createSessionRepository(database),
    members: repository,
    principalOf: (keyId) => authenticator.principalOf(keyId),
    clock,
  })
  const signIn = createSignIn({
    repository,
    members,
    sessions,
    passwords: createPasswords(),
    ownerOf: (key, address) =>
      authenticator.authenticate(new Headers({ 'x-headrace-key': key }), { clientAddress: address }),
    clock,
  })
  return { members, sessions, signIn }
}

/** What events are signed with. */
export function createSigning(config: Config, database: Database) {
  const dataFolder = config.isOwnDatabase ? config.dataFolder : null
  const seal = createSeal({ given: config.masterKey, dataFolder })
  return { seal, secrets: createSigningSecrets(createSigningSecretRepository(database), seal) }
}

/** What it costs. */
export function createMoney(
  database: Database,
  report: Report,
  { commitDelayMs, announce }: Pick<Parameters<typeof createBilling>[0], 'commitDelayMs' | 'announce'> = {},
) {
  const ledger = createLedger(database)
  return {
    ledger,
    billing: createBilling({ ledger, report, commitDelayMs: commitDelayMs ?? 0, announce: announce ?? null }),
    learning: createLearning(),
    accounts: createAccounts(ledger, createAccountsRepository(database)),
    rollup: createRollup({
      repository: createRollupRepository(database),
      report: (cause) => report({ type: 'maintenance_failed', cause }),
    }),
  }
}

/** Where the payloads are. Requests to a server of theirs take connections of their own, which no provider can use up. */
export function blobHomeOf({ dataFolder, objectStore }: Config): BlobHome {
  if (objectStore === null) return { dataFolder }
  const transport = createTransport({ clock: systemClock, environment: processEnvironment() })
  return { dataFolder, blobServer: { settings: objectStore, send: createSignedSend(transport) } }
}

/** Storage for commands that run beside a gateway or without one. */
export async function openForCommands(config: Config): Promise<CliStorage> {
  const clock = systemClock
  const database = await openDatabase({
    url: config.databaseUrl,
    migrationWaitMs: migrationCommandWaitMs,
  })
  const home = blobHomeOf(config)
  const blobs = openBlobs(home)
  const access = createAccess(database, clock)
  const { accounts } = createMoney(database, () => undefined)
  return {
    database,
    organizations: access.organizationRepository,
    keys: access.keys,
    members: access.people.members,
    accounts,
    priceLists: createPriceListsRepository(database),
    signingSecrets: createSigning(config, database).secrets,
    broadcasts: createBroadcastRepository(database),
    blobs,
    blobLocation: describeBlobHome(home),
    checkBlobStore: () => checkBlobStore(database, blobs, home),
    checkInvariants: () => checkInvariants(createInvariantsRepository(database)),
    close: async () => {
      access.rates.stop()
      await database.close()
    },
  }
}
