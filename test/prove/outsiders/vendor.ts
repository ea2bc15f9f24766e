import { vendorRows } from '../vendor-rows.ts'

/** A row for each vendor with an SDK: `outsiders/vendor-<slug>`. */
export const proof = { rows: () => vendorRows('outsiders/vendor-') }
