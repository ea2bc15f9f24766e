import { randomUUID } from 'node:crypto'
import type { MediaAddress, TextCall } from '../../canonical/call.ts'
import type { StoredFile } from '../../canonical/file.ts'
import type { Principal } from '../../canonical/principal.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { inTurns } from '../../core/turns.ts'
import { listAddresses, type LoadedMedia, placeMedia } from '../../formats/text/media/media-addresses.ts'
import { leanOf } from '../../json/set-aside-texts.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { operations } from '../operations.ts'
import { mediaAddressesMax, mediaTotalBytesMax } from './remote-media.ts'

/** Types of text that formats take as text. */
const textTypes = /^(?:text\/|application\/(?:json|x-ndjson)$)/

/**
 * The call with the bytes of every file of this gateway that it names by its id; ids of other files go on as they are.
 * Throws `invalid_request`, which names the member, for a file that is not the organization's, or that is too large. Of a
 * call that was answered before (`isAnswered`), a file that is gone since is blank: the answer is charged all the same.
 */
export async function withNamedFiles(
  call: TextCall,
  principal: Principal,
  { files }: Pick<ExecutionDependencies, 'files'>,
  isAnswered = false,
): Promise<TextCall> {
  const named = listAddresses(call, 'file id')
  if (named.length === 0) return call
  const loaded = new Map<string, LoadedMedia>()
  const budget = { bytesLeft: mediaTotalBytesMax }
  for (const address of named) {
    if (loaded.size >= mediaAddressesMax)
      throw fieldError(address.field, `is one of more than ${mediaAddressesMax} files. Send fewer.`)
    const media = loaded.get(address.url) ?? (await load(address, principal, { files, budget, isAnswered }))
    if (address.kind === 'image' && !media.mediaType.startsWith('image/'))
      throw fieldError(address.field, `names a file of ${media.mediaType}, and not a picture.`)
    loaded.set(address.url, media)
  }
  const bytes = await inTurns(placeMedia(call, loaded, { nonce: randomUUID(), by: 'file id' }))
  const lean = await leanOf(bytes)
  const decoded = operations[call.operation].text?.decode(bytes, { sessionIdHeader: null, lean })
  if (decoded === undefined) return call
  // What was named counts like what a caller sends inline, and what is gone is known to its provider alone.
  const { demand } = decoded
  const known = isAnswered ? { ...demand, hasUncountedInput: true as const } : demand
  return { ...call, demand: known, document: decoded.document }
}

interface Loading {
  files: ExecutionDependencies['files']
  budget: { bytesLeft: number }
  isAnswered: boolean
}

async function load(
  address: MediaAddress,
  principal: Principal,
  { files, budget, isAnswered }: Loading,
): Promise<LoadedMedia> {
  const file = await find(address, principal, { files, isAnswered })
  if (file === null) {
    const blank = { chunks: [Buffer.from(' ')], name: 'deleted' }
    return address.kind === 'image'
      ? { ...blank, mediaType: 'image/png' }
      : { ...blank, mediaType: 'text/plain', text: ' ' }
  }
  budget.bytesLeft -= file.bytes
  if (budget.bytesLeft < 0) {
    const problem = `and the files before it have more than ${mediaTotalBytesMax} bytes together. Send less.`
    throw fieldError(address.field, problem)
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of files.open(file)) chunks.push(chunk)
  const { name } = file
  if (!textTypes.test(file.mediaType)) return { mediaType: file.mediaType, chunks, name }
  return { mediaType: 'text/plain', chunks, name, text: Buffer.concat(chunks).toString('utf8') }
}

async function find(
  { url: id, field }: MediaAddress,
  principal: Principal,
  { files, isAnswered }: Pick<Loading, 'files' | 'isAnswered'>,
): Promise<StoredFile | null> {
  try {
    const file = await files.load(principal, id)
    if (file.batchId === null) return file
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.type !== 'not_found') throw thrown
    if (isAnswered) return null
    throw fieldError(field, 'names no file of this organization. Upload it first.')
  }
  throw fieldError(field, 'names the results of a batch, which no call takes. Upload the file.')
}
