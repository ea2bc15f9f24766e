import type { AdoptedKey, Keys } from '../../access/keys.ts'
import type { CommandContext } from '../context.ts'
import { filledTextOrNull } from '../../json/values.ts'
import { CommandFailure } from '../failure.ts'
import { findOrganization, withStorage } from '../local-storage.ts'
import type { KeyCounts } from './import-report.ts'
import { type ImportedFile, masterKeyOf } from './litellm-import.ts'
import { adoptKey } from './litellm-keys.ts'
import type { LitellmDatabase } from './litellm-repository.ts'
import type { LitellmTables } from './litellm-tables.ts'
import type { Remarks } from './remarks.ts'

/** LiteLLM's database, and what was read of it before the keys. */
interface KeySource {
  litellm: LitellmDatabase
  tables: LitellmTables
}

interface Asked {
  context: CommandContext
  remarks: Remarks
  isDry: boolean
  /** The organization that the user named. */
  organization: string | undefined
}

/** Where keys go. */
interface Target {
  organizationId: string
  adopted: Pick<Keys, 'adopt' | 'findAdopted'>
}

/**
 * Adds the master key and the keys of the database, in a dry run none. Returns null when there is nothing to add, or when the
 * first start of the gateway has to come before.
 */
export async function carryKeys(
  file: ImportedFile,
  source: KeySource | null,
  asked: Asked,
): Promise<KeyCounts | null> {
  const { context, remarks, isDry } = asked
  const { masterKey } = file
  if (masterKey === null && source === null) return null
  let isOpen = false
  try {
    return await withStorage(
      context,
      async (storage) => {
        const { organizationId } = await findOrganization(storage, asked.organization)
        isOpen = true
        return carryInto({ organizationId, adopted: storage.keys }, { file, source, asked })
      },
      { mayLackFile: true },
    )
  } catch (error) {
    if (isOpen || !(error instanceof CommandFailure)) throw error
    if (isDry && source !== null && asked.organization === undefined) {
      remarks.aboutRow('keys', `cannot be added yet: ${error.message}`)
      return carryInto(nowhere, { file, source, asked })
    }
    // Without LiteLLM's database only the configuration is imported; the first start needs it before any keys exist.
    if (source !== null || masterKey === null) throw error
    remarks.about(
      masterKey.value,
      'is not carried yet: start the gateway once (npx headrace serve), then import again',
    )
    return null
  }
}

/** For a dry run before the first start of the gateway. */
const nowhere: Target = {
  organizationId: '',
  adopted: {
    adopt: () => Promise.resolve(new Set()),
    findAdopted: () => Promise.resolve({ present: new Set(), former: new Set() }),
  },
}

async function carryInto(
  target: Target,
  { file: { masterKey }, source, asked }: { file: ImportedFile; source: KeySource | null; asked: Asked },
): Promise<KeyCounts> {
  const { remarks, isDry } = asked
  const counts: KeyCounts = { added: 0, known: 0, former: 0, disabled: 0, expired: 0, refused: 0, ofTeams: 0 }
  const adopt = (keys: readonly AdoptedKey[]) => adoptAll(keys, { target, counts, isDry })
  if (masterKey !== null) {
    remarks.about(
      masterKey.value,
      'is carried as a key that asks for models; keys that manage: npx headrace keys create --management',
    )
    await adopt([masterKeyOf(masterKey.secret, target.organizationId)])
  }
  if (source === null) return counts
  const { litellm, tables } = source
  let ofUsers = 0
  for await (const page of litellm.keys()) {
    const found = page.flatMap((row) => {
      const key = adoptKey(row, { ...tables.context, organizationId: target.organizationId, remarks })
      return key === null ? [] : [{ row, key }]
    })
    counts.refused += page.length - found.length
    counts.ofTeams += found.filter(({ row }) => tables.context.teams.has(String(row['team_id']))).length
    ofUsers += found.filter(({ row }) => filledTextOrNull(row['user_id']) !== null).length
    await adopt(found.map(({ key }) => key))
  }
  if (ofUsers > 0)
    remarks.aboutRow(
      'keys',
      `user_id is not carried (${ofUsers}): there are no users here, and usage is summed by key`,
    )
  return counts
}

async function adoptAll(
  keys: readonly AdoptedKey[],
  { target: { adopted }, counts, isDry }: { target: Target; counts: KeyCounts; isDry: boolean },
): Promise<void> {
  const { present, former } = await adopted.findAdopted(keys.map(({ keyHash }) => keyHash))
  if (!isDry) await adopted.adopt(keys)
  const nowMs = Date.now()
  for (const { keyHash, disabled, expiresAtMs } of keys) {
    if (present.has(keyHash)) counts.known += 1
    else if (former.has(keyHash)) counts.former += 1
    else {
      counts.added += 1
      if (disabled) counts.disabled += 1
      else if (expiresAtMs !== null && expiresAtMs <= nowMs) counts.expired += 1
    }
  }
}
