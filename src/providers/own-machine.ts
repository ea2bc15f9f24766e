import type { DataPolicy } from '../canonical/endpoint.ts'

/** Of servers on the operator's own machines: nothing leaves them. */
export const ownMachine: DataPolicy = { zdr: true, trains: false, stores: false }
