import type { MediaAddress } from '../../../canonical/call.ts'
import { fileIdPrefix } from '../../../canonical/file.ts'
import { isRecord } from '../../../json/values.ts'

/** A part of a request that is changed in place. */
type Wire = Record<string, unknown>

/** What replaces a name: its bytes as base64, and the text of a text file as it is; null for all others. */
export interface PlacedMedia {
  mediaType: string
  base64: string
  text: string | null
  name: string
}

/** A place in a request that names media by URL or by the id of a file; `put` replaces the name by the media. */
export interface Spot extends MediaAddress {
  put(media: PlacedMedia): void
}

/** The URL of media with its bytes in it. */
export function toDataUrl({ mediaType, base64 }: Pick<PlacedMedia, 'mediaType' | 'base64'>): string {
  return `data:${mediaType};base64,${base64}`
}

/** Stands in every request that names a file of this gateway. */
export const fileMark = Buffer.from(`${fileIdPrefix}_`)

const ownId = new RegExp(`^${fileIdPrefix}_\\w{1,64}$`)

/** The id if the gateway keeps the file; any other id is for the provider. */
function ownIdOf(value: unknown): string | null {
  return typeof value === 'string' && ownId.test(value) ? value : null
}

/** The member by which all three formats name a file. */
const idMember = 'file_id'

/** The place in a part of a chat message. A picture becomes a part of its own kind. */
export function fileSpotOfChat(part: Wire, path: string): Spot[] {
  const { file } = part
  const url = isRecord(file) ? ownIdOf(file[idMember]) : null
  if (!isRecord(file) || url === null) return []
  const put: Spot['put'] = (media) => {
    if (isPicture(media)) {
      delete part['file']
      part['type'] = 'image_url'
      part['image_url'] = { url: toDataUrl(media) }
      return
    }
    delete file[idMember]
    file['file_data'] = toDataUrl(media)
    file['filename'] ??= media.name
  }
  return [{ url, kind: 'file', field: `${path}.file.${idMember}`, put }]
}

/** The place in a part of a responses input. */
export function fileSpotOfInput(part: Wire, path: string): Spot[] {
  const { type } = part
  const url = ownIdOf(part[idMember])
  if (url === null || (type !== 'input_image' && type !== 'input_file')) return []
  const put: Spot['put'] = (media) => {
    delete part[idMember]
    if (isPicture(media)) {
      delete part['filename']
      part['type'] = 'input_image'
      part['image_url'] = toDataUrl(media)
      return
    }
    part['file_data'] = toDataUrl(media)
    part['filename'] ??= media.name
  }
  const kind = type === 'input_image' ? 'image' : 'file'
  return [{ url, kind, field: `${path}.${idMember}`, put }]
}

/** The place in a block of a messages request. */
export function fileSpotOfBlock(block: Wire, path: string): Spot[] {
  const { type, source } = block
  if (!isRecord(source) || source['type'] !== 'file' || (type !== 'image' && type !== 'document')) return []
  const url = ownIdOf(source[idMember])
  if (url === null) return []
  const put: Spot['put'] = (media) => {
    const { mediaType, base64, text, name } = media
    block['source'] =
      text === null
        ? { type: 'base64', media_type: mediaType, data: base64 }
        : { type: 'text', media_type: 'text/plain', data: text }
    if (isPicture(media)) block['type'] = 'image'
    else block['title'] ??= name
  }
  const kind = type === 'image' ? 'image' : 'file'
  return [{ url, kind, field: `${path}.source.${idMember}`, put }]
}

function isPicture({ mediaType }: Pick<PlacedMedia, 'mediaType'>): boolean {
  return mediaType.startsWith('image/')
}
