import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { GatewayError } from '../core/errors.ts'

/** The variable that holds the key, and the file that is made beside the data where it is not set. */
const masterKeyVariable = 'HEADRACE_MASTER_KEY'
export const masterKeyFile = 'master.key'

/** Where the key comes from: the environment, or a file of the data folder; null where neither may be. */
export interface MasterKeyPlace {
  given: string | null
  /** Null when the database is elsewhere: other processes on it could not read a key of this folder. */
  dataFolder: string | null
}

/** Seals secrets for storage. A text names what it was sealed for, so that it opens for nothing else. */
export interface Seal {
  /** Why nothing can be sealed here; null when it can. */
  refusal(): GatewayError | null
  seal(secret: string, purpose: string): Promise<string>
  /** Throws when the text was sealed with another key or for another purpose. */
  open(sealed: string, purpose: string): Promise<string>
}

const nonceBytes = 12
const tagBytes = 16
const version = 'v1'

/** The key is read at its first use. Without a place for it, what needs it is refused by name. */
export function createSeal(place: MasterKeyPlace): Seal {
  let loading: Promise<Buffer> | null = null
  const key = (): Promise<Buffer> => {
    loading ??= loadKey(place).catch((error: unknown) => {
      loading = null
      throw error
    })
    return loading
  }
  return {
    refusal: () => (place.given === null && place.dataFolder === null ? noKey() : null),
    async seal(secret, purpose) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', await key(), nonce).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([
        nonce,
        cipher.update(secret, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
      return `${version}.${sealed.toString('base64url')}`
    },
    async open(sealed, purpose) {
      const [found, text = ''] = sealed.split('.')
      const bytes = Buffer.from(text, 'base64url')
      if (found !== version || bytes.length < nonceBytes + tagBytes) throw otherKey()
      const decipher = createDecipheriv('aes-256-gcm', await key(), bytes.subarray(0, nonceBytes))
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes))
      try {
        const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
        return Buffer.concat([opened, decipher.final()]).toString()
      } catch (cause) {
        throw otherKey(cause)
      }
    },
  }
}

async function loadKey({ given, dataFolder }: MasterKeyPlace): Promise<Buffer> {
  if (given !== null) return derived(given)
  if (dataFolder === null) throw noKey()
  return derived(await keyOfFolder(dataFolder))
}

/** A master key of any length is hashed to 256 bits; the operator's own has at least 16 characters. */
function derived(text: string): Buffer {
  return Buffer.from(hkdfSync('sha256', text, '', 'headrace secrets', 32))
}

/** The folder's key, made at its first use. Of several processes that make one at once, all use the first. */
async function keyOfFolder(folder: string): Promise<string> {
  const path = join(folder, masterKeyFile)
  const known = readIfThere(path)
  if (known !== null) return known
  const made = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(made, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    linkSync(made, path)
    const parent = await open(dirname(path), 'r')
    try {
      await parent.sync()
    } finally {
      await parent.close()
    }
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(made, { force: true })
  }
  return readFileSync(path, 'utf8').trim()
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function noKey(): GatewayError {
  const message = `This needs a key that seals secrets, and ${masterKeyVariable} is not set here. With DATABASE_URL the operator sets it, the same for every process.`
  return new GatewayError('invalid_request', message)
}

function otherKey(cause?: unknown): GatewayError {
  const message = `A stored secret cannot be opened: it was sealed with another ${masterKeyVariable} (or another ${masterKeyFile} of the data folder).`
  return new GatewayError('invalid_request', message, { cause })
}
