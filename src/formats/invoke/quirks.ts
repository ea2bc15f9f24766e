import type { OwnQuirks } from '../text/codec.ts'
import type { TextInterface } from '../text/text-interface.ts'
import { invokeCodec } from './invoke-codec.ts'

/** Vectors by Bedrock's InvokeModel, whose body is that of the model's maker. */
export function bedrockEmbeddings(): TextInterface {
  const quirks: OwnQuirks = {
    format: 'invoke',
    addresses: { image: 'none', file: 'none' },
    codec: invokeCodec,
  }
  return { format: 'invoke', path: ({ model }) => `/model/${encodeURIComponent(model)}/invoke`, quirks }
}
