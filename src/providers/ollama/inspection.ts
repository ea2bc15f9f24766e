import type { Inspection, InspectedFacts } from '../../catalog/inspection.ts'
import { member } from '../../catalog/listing.ts'

/** An Ollama server describes each of its models on request. */
export const ollamaInspection: Inspection = {
  asks: 'each_model',
  async inspect(model, ask) {
    const { status, body } = await ask({ method: 'POST', path: '/api/show', body: { model } })
    return status === 200 ? factsOf(body) : null
  },
}

/** Since 2025 servers list the capabilities of a model; older ones do not. */
function factsOf(body: unknown): InspectedFacts | null {
  const capabilities = member(body, 'capabilities')
  if (!Array.isArray(capabilities)) return null
  const has = (name: string) => capabilities.includes(name)
  if (has('completion')) {
    return {
      modality: 'language',
      inputs: [...(has('vision') ? ['image'] : []), ...(has('audio') ? ['audio'] : [])],
    }
  }
  if (has('embedding')) return { modality: 'embedding' }
  // For example an image model: no operation serves it.
  return capabilities.length > 0 ? { modality: null } : null
}
