import type { OrganizationChanges, OrganizationRecord } from '../../access/organization-record.ts'
import { dollars } from '../amounts.ts'
import { parseArguments, type Parsed } from '../arguments.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { findOrganization, withStorage } from '../local-storage.ts'
import { createPaint, padded } from '../paint.ts'
import {
  isRuleName,
  openValueOf,
  readRules,
  ruleNames,
  showRules,
  switchOf,
  warnOfUnknownWords,
} from './rules.ts'
import { suggestionFor } from '../suggestion.ts'

/**
 * `headrace org`, `headrace org signing-secret` and `headrace org set <setting> <value>`: works on the database directly, also while a gateway runs.
 */
export async function runOrganization(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('org', args, { org: { type: 'string' } }, 3)
  if (parsed.words[0] === 'signing-secret') return rotateSecret(parsed, context)
  const changes = parsed.words.length === 0 ? null : changesOf(parsed.words)
  await withStorage(context, async (storage) => {
    const { organizationId } = await findOrganization(storage, parsed.text('org'))
    if (changes) await change(organizationId, changes, { storage, context })
    show(await findOrganization(storage, organizationId), context)
    if (changes) context.writeError('A running gateway follows within two seconds.\n')
  })
  return 0
}

/** Gives the organization another signing secret and shows it once; only the secret goes to stdout. */
async function rotateSecret(parsed: Parsed, context: CommandContext): Promise<number> {
  if (parsed.words.length > 1) throw usageFailure(`"${parsed.words[1]}" is not expected here.`, 'org')
  await withStorage(context, async (storage) => {
    const { organizationId } = await findOrganization(storage, parsed.text('org'))
    const secret = await storage.signingSecrets.rotate(organizationId)
    context.writeError(
      `Events of batches (callback_url) of ${organizationId} are signed with this secret from now on. It is shown once:\n`,
    )
    context.write(`${secret}\n`)
  })
  return 0
}

function changesOf([action, name = '', value]: readonly string[]): OrganizationChanges {
  if (action !== 'set') throw usageFailure(`There is no "org ${action}".`, 'org')
  if (value === undefined) throw usageFailure(`Set ${name || 'what'} to which value?`, 'org')
  if (isRuleName(name)) return readRules((rule) => (rule === name ? value : undefined), 'org')
  if (name === 'filtered-catalog') {
    return { isFilteredModelCatalogEnabled: switchOf(value, name, 'org') }
  }
  if (name === 'mode') {
    if (value === 'prepaid' || value === 'tracked') return { accountMode: value }
    throw usageFailure(`mode is prepaid or tracked, not "${value}".`, 'org')
  }
  const known = ['mode', 'filtered-catalog', ...ruleNames]
  const meant = suggestionFor(name, known)
  throw usageFailure(`There is no setting "${name}"; there are ${known.join(', ')}.${meant}`, 'org')
}

async function change(
  organizationId: string,
  changes: OrganizationChanges,
  { storage, context }: { storage: CliStorage; context: CommandContext },
): Promise<void> {
  if (!(await storage.organizations.update(organizationId, changes))) {
    throw new CommandFailure(`There is no organization "${organizationId}" any more.`)
  }
  warnOfUnknownWords(changes, context)
  if (changes.accountMode !== 'prepaid') return
  // Also run when the organization was prepaid already: it books usage that was still tracked when the mode changed.
  const { balance } = await storage.accounts.reconcileCredits(organizationId)
  const refused =
    balance > 0n ? '' : '; every call is refused with 402 until there are some: npx headrace credits add 10'
  context.writeError(`Its credits: ${dollars(balance)}${refused}\n`)
}

const modes = {
  prepaid: 'prepaid (calls are held and paid from credits; 402 when they do not cover one)',
  tracked: 'tracked (costs are recorded, no balance limits them)',
} as const

function show(organization: OrganizationRecord, context: CommandContext): void {
  const paint = createPaint(context.isTty, context.env)
  const lines: (readonly [string, string])[] = [
    ['id', organization.organizationId],
    ['name', organization.name],
    ['mode', modes[organization.accountMode]],
    ['filtered-catalog', organization.isFilteredModelCatalogEnabled ? 'on' : 'off'],
    ...showRules(organization).map(([name, value]) => [name, value ?? openValueOf(name)] as const),
  ]
  for (const [name, value] of lines) context.write(`${paint.dim(padded(name, 20))} ${value}\n`)
}
