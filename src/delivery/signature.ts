import { createHmac } from 'node:crypto'

/**
 * The contract's signature of an event: `t=<Unix seconds>,v1=<hex>`, where hex is the HMAC-SHA256 of `<t>,<body>` under
 * the organization's secret. A receiver refuses a time that is more than 300 seconds from its own.
 */
export function signatureOf(body: string, secret: string, atMs: number): string {
  const seconds = Math.floor(atMs / 1000)
  const digest = createHmac('sha256', secret).update(`${seconds},${body}`).digest('hex')
  return `t=${seconds},v1=${digest}`
}
