import { parseArguments } from './arguments.ts'
import type { CommandContext } from './context.ts'
import { CommandFailure, usageFailure } from './failure.ts'
import { findOrganization, withStorage } from './local-storage.ts'
import { createPaint, padded } from './paint.ts'

/** `headrace org` and `headrace org set filtered-catalog on|off`: on the database directly. */
export async function runOrganization(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('org', args, { org: { type: 'string' } }, 3)
  const isOn = parsed.words.length === 0 ? null : settingOf(parsed.words)
  await withStorage(context, async (storage) => {
    const { organizationId } = await findOrganization(storage, parsed.text('org'))
    if (isOn !== null) {
      const settings = { isFilteredModelCatalogEnabled: isOn }
      if (!(await storage.organizations.updateSettings(organizationId, settings))) {
        throw new CommandFailure(`There is no organization "${organizationId}" any more.`)
      }
    }
    const organization = await findOrganization(storage, organizationId)
    const { requestsPerMinute, batchesPerMinute } = organization.rates
    const paint = createPaint(context.isTty, context.env)
    const mode =
      organization.accountMode === 'prepaid'
        ? 'prepaid (402 below its balance)'
        : 'tracked (no balance limit)'
    const lines = [
      ['id', organizationId],
      ['name', organization.name],
      ['account', mode],
      ['filtered-catalog', organization.isFilteredModelCatalogEnabled ? 'on' : 'off'],
      ['requests a minute', String(requestsPerMinute ?? 'unlimited')],
      ['batches a minute', String(batchesPerMinute ?? 'unlimited')],
    ] as const
    for (const [name, value] of lines) context.write(`${paint.dim(padded(name, 18))} ${value}\n`)
  })
  return 0
}

function settingOf([action, name, value]: readonly string[]): boolean {
  if (action !== 'set') throw usageFailure(`There is no "org ${action}".`, 'org')
  if (name !== 'filtered-catalog') throw usageFailure('The one setting is filtered-catalog.', 'org')
  if (value === 'on' || value === 'off') return value === 'on'
  throw usageFailure('filtered-catalog is on or off.', 'org')
}
