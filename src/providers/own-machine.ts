import type { DataPolicy } from '../canonical/endpoint.ts'

/** The policy of servers on the operator's own machines: no data leaves them. */
export const ownMachine: DataPolicy = { zdr: true, trains: false, stores: false }
