import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'tls')

/** A key with its certificate. */
export interface TestTls {
  key: string
  cert: string
}

/** The authority that signed the certificates here. No machine trusts it, but a process started with it does. */
export const testAuthority = join(folder, 'authority.pem')

/** The certificate of a server on the loopback interface, or of one elsewhere, whose name fits no server here. */
export function readTestTls(name: 'loopback' | 'elsewhere'): TestTls {
  const read = (ending: string) => readFileSync(join(folder, `${name}.${ending}`), 'utf8')
  return { key: read('key'), cert: read('pem') }
}

/** The environment of a process that runs a test again under TLS. */
export const tlsEnvironment = { HEADRACE_TEST_TLS: 'yes', NODE_EXTRA_CA_CERTS: testAuthority }

/** The certificate for a test's servers where the test runs under TLS; null where it does not. */
export function testTls(): TestTls | null {
  return process.env['HEADRACE_TEST_TLS'] === 'yes' ? readTestTls('loopback') : null
}
