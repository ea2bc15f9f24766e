import { vendorRows } from '../vendor-rows.ts'

/** A row for each vendor with an SDK: `clients/vendors/<slug>`. */
export const proof = { rows: () => vendorRows('clients/vendors/') }
