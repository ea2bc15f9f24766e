import type { Policy, Rates } from '../canonical/principal.ts'
import type { OrganizationId } from '../core/ids.ts'

/** An organization as it is stored. Times are epoch milliseconds. */
export interface OrganizationRecord {
  organizationId: OrganizationId
  name: string
  /** `prepaid` refuses calls that the balance does not cover; `tracked` records costs and has no balance limit. */
  accountMode: 'prepaid' | 'tracked'
  isFilteredModelCatalogEnabled: boolean
  policy: Policy
  rates: Rates
  createdAtMs: number
}

/** Changes to an organization. Absent members stay as they are, also those inside of policy and rates. */
export interface OrganizationChanges {
  accountMode?: OrganizationRecord['accountMode']
  isFilteredModelCatalogEnabled?: boolean
  policy?: Partial<Policy>
  rates?: Partial<Rates>
}
