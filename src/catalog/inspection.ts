import { discoveryConcurrencyMax, inspectedModelsMax } from '../core/limits/catalog.ts'
import { member, type ListedModel } from './listing.ts'

/**
 * How a kind of server tells what a model is, where its listing does not: Ollama has an endpoint that describes one
 * model, a llama.cpp server describes itself and answers embeddings only when it was started for them.
 */
export type Inspection = 'ollama' | 'llamacpp'

/** A question to a server, below its root and not below its version. */
export interface InspectionQuestion {
  method: 'GET' | 'POST'
  path: string
  body: Readonly<Record<string, unknown>> | null
}

/** What it answered; `body` is undefined when that was no JSON. */
export interface InspectionReply {
  status: number
  body: unknown
}

/** Asks one server; rejects when it cannot be reached. */
export type AskServer = (question: InspectionQuestion) => Promise<InspectionReply>

type Facts = Pick<ListedModel, 'modality' | 'inputs'>

/** Completes listings of one deployment with what its server tells. */
export interface Inspector {
  /** The models as they came, those that the server told about completed. Never rejects. */
  complete(models: readonly ListedModel[], ask: AskServer): Promise<ListedModel[]>
}

/** Nothing is known yet. What a server told of a model is kept until its listing shows another one under the name. */
export function createInspector(inspection: Inspection): Inspector {
  let known = new Map<string, Facts>()
  return {
    async complete(models, ask) {
      const unknown = models.filter(({ modality }) => modality === undefined)
      const found = new Map<string, Facts>()
      for (const model of unknown) {
        const facts = known.get(keyOf(model))
        if (facts) found.set(keyOf(model), facts)
      }
      const asked = unknown.filter((model) => !found.has(keyOf(model))).slice(0, inspectedModelsMax)
      // A server of one model is asked what it is; to ask one of many would load each of them.
      if (inspection === 'ollama' || models.length === 1) {
        for (const [model, facts] of await inspectAll(asked, inspection, ask)) found.set(keyOf(model), facts)
      }
      known = found
      return models.map((model) => ({ ...model, ...found.get(keyOf(model)) }))
    },
  }
}

/** Another model under the same name was made at another time. */
function keyOf({ upstream, created }: ListedModel): string {
  return `${created ?? 0} ${upstream}`
}

async function inspectAll(
  models: readonly ListedModel[],
  inspection: Inspection,
  ask: AskServer,
): Promise<[ListedModel, Facts][]> {
  const waiting = [...models]
  const found: [ListedModel, Facts][] = []
  const worker = async () => {
    for (let model = waiting.shift(); model; model = waiting.shift()) {
      // A server that does not answer leaves the model to be told by its name, until it is asked again.
      const facts = await inspections[inspection](model.upstream, ask).catch(() => null)
      if (facts) found.push([model, facts])
    }
  }
  await Promise.all(Array.from({ length: discoveryConcurrencyMax }, worker))
  return found
}

const inspections: Readonly<Record<Inspection, (model: string, ask: AskServer) => Promise<Facts | null>>> = {
  async ollama(model, ask) {
    const { status, body } = await ask({ method: 'POST', path: '/api/show', body: { model } })
    return status === 200 ? ollamaFacts(body) : null
  },
  async llamacpp(model, ask) {
    const probe = await ask({ method: 'POST', path: '/v1/embeddings', body: { model, input: 'a' } })
    // Started for embeddings, it serves nothing else.
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

/** The status with which llama.cpp refuses what it was not started for. */
const notSupported = 501

/** Servers of 2025 and later list what a model can do; older ones do not. */
function ollamaFacts(body: unknown): Facts | null {
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
  // Such as one that paints: no operation serves it.
  return capabilities.length > 0 ? { modality: null } : null
}
