import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import {
  type FetchLogin,
  type Grant,
  type IdentityWorld,
  type LoginAsked,
  LoginRefused,
} from '../../transport/identities/identity-world.ts'
import { signStatement } from '../../transport/identities/signed-statement.ts'
import { bearer } from '../define-provider.ts'

const lifeSeconds = 3_540
/** How long a token of a file is used before the file is read again; the program that writes the file renews the token. */
const fileLifeMs = 300_000

/**
 * A token that the key pair of a user signs, valid for at most an hour, or one of OAuth from a file that another program renews.
 * https://docs.snowflake.com/en/developer-guide/sql-api/authenticating
 */
export const fetchSnowflakeLogin: FetchLogin = async (asked, world) => {
  const { private_key_file: keyFile, token_file: tokenFile } = asked.settings
  if (tokenFile !== undefined) return ofFile(tokenFile, world)
  if (keyFile === undefined) throw new LoginRefused('set "private_key_file" with "user", or "token_file"')
  return withKeyPair(keyFile, asked, world)
}

async function ofFile(path: string, world: IdentityWorld): Promise<Grant> {
  const secret = (await world.readFile(path))?.trim()
  if (!secret) throw new LoginRefused(`there is no token in the file ${path}`)
  return { login: { ...bearer, secret }, lifeMs: fileLifeMs }
}

async function withKeyPair(
  path: string,
  { settings, baseUrl }: LoginAsked,
  world: IdentityWorld,
): Promise<Grant> {
  if (settings.user === undefined) throw new LoginRefused('the user is not known; set "user"')
  const pem = await world.readFile(path)
  if (pem === null) throw new LoginRefused(`there is no file ${path}`)
  const key = keyOf(pem, path)
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const fingerprint = `SHA256:${createHash('sha256').update(der).digest('base64')}`
  const [host = ''] = new URL(baseUrl).hostname.split('.')
  // An account's region or cloud, after a dot, is no part of its name.
  const [account = ''] = (settings.account ?? host).split('.')
  const subject = `${account}.${settings.user}`.toUpperCase()
  const secret = await signStatement(key, {
    issuer: `${subject}.${fingerprint}`,
    subject,
    nowMs: world.nowMs(),
    lifeSeconds,
  })
  return { login: { ...bearer, secret }, lifeMs: lifeSeconds * 1000 }
}

function keyOf(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new LoginRefused(`the file ${path} has no private key that can be read`)
  }
}
