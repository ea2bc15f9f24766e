import { createKeyRepository } from '../../src/access/key-repository.ts'
import { makeKey } from '../../src/access/keys.ts'
import { createOrganizationRepository } from '../../src/access/organization-repository.ts'
import { openPolicy } from '../../src/access/policy.ts'
import { createAccountsRepository } from '../../src/billing/ledger/accounts-repository.ts'
import { createAccounts } from '../../src/billing/ledger/accounts.ts'
import { createLedger } from '../../src/billing/ledger/ledger-repository.ts'
import { newId } from '../../src/core/ids.ts'
import type { Database } from '../../src/storage/database.ts'
import { organizationId as firstOrganizationId } from './world.ts'

const unlimited = { requestsPerMinute: null, batchesPerMinute: null, tokensPerMinute: null }

/** Another prepaid organization with an inference key and this balance. */
export async function addOrganization(
  database: Database,
  amountNanocredits: bigint,
): Promise<{ organizationId: string; key: string }> {
  const nowMs = Date.now()
  const organizationId = newId('org', nowMs)
  const { key, secret } = makeKey({ organizationId, kind: 'inference', name: 'key' }, nowMs)
  await createOrganizationRepository(database).insertWithKeys(
    {
      organizationId,
      name: 'Another',
      accountMode: 'prepaid',
      isFilteredModelCatalogEnabled: false,
      policy: openPolicy,
      rates: unlimited,
      createdAtMs: nowMs,
    },
    [key],
  )
  await grant(database, organizationId, amountNanocredits)
  return { organizationId, key: secret }
}

/** Adds credits, once per call. */
export async function grant(
  database: Database,
  organizationId: string,
  amountNanocredits: bigint,
): Promise<void> {
  const accounts = createAccounts(createLedger(database), createAccountsRepository(database))
  const transactionId = newId('grant', Date.now())
  await accounts.grantCredits({ organizationId, amountNanocredits, transactionId, createdAtMs: Date.now() })
}

/** Another inference key of the first organization, with a limit when one is given; the secret and the id. */
export async function addKey(
  database: Database,
  limitNanocredits: bigint | null = null,
): Promise<{ key: string; keyId: string }> {
  const made = makeKey(
    { organizationId: firstOrganizationId, kind: 'inference', name: 'another', limitNanocredits },
    Date.now(),
  )
  await createKeyRepository(database).insert(made.key)
  return { key: made.secret, keyId: made.key.keyId }
}

/** Takes the limit of batch creations off the first organization. */
export async function liftRates(database: Database): Promise<void> {
  await database.commit({
    name: 'test.rates',
    statements: [
      {
        sql: 'update organizations set rate_json = $1 where organization_id = $2',
        params: ['{"requests_per_minute":null,"batches_per_minute":null}', firstOrganizationId],
      },
    ],
  })
}
