import { vendorRows } from '../vendor-rows.ts'

const clouds = ['amazon-bedrock', 'amazon-bedrock-mantle', 'azure', 'cohere', 'vertex-ai', 'voyage']

/** A row for each cloud, and for Cohere and Voyage: their SDKs beside the gateway. */
export const proof = { rows: () => vendorRows('clouds/vendors/', clouds) }
