import type { Inspection } from '../../catalog/inspection.ts'
import { member } from '../../catalog/listing.ts'

/** The status with which llama.cpp refuses an operation that it was not started for. */
const notSupported = 501

/** A llama.cpp server describes itself. It answers embeddings only when it was started for them. */
export const llamaCppInspection: Inspection = {
  // Asking a server with many models would load each of them.
  asks: 'only_model',
  async inspect(model, ask) {
    const probe = await ask({ method: 'POST', path: '/v1/embeddings', body: { model, input: 'a' } })
    // A server started for embeddings serves nothing else.
    if (probe.status === 200) return { modality: 'embedding' }
    if (probe.status !== notSupported) return null
    const props = await ask({ method: 'GET', path: '/props', body: null }).catch(() => null)
    const modalities = props?.status === 200 ? member(props.body, 'modalities') : undefined
    if (typeof modalities !== 'object') return { modality: 'language' }
    const inputs = [
      ...(member(modalities, 'vision') === true ? ['image'] : []),
      ...(member(modalities, 'audio') === true ? ['audio'] : []),
    ]
    return { modality: 'language', inputs }
  },
}
