import { discoveryConcurrencyMax, inspectedModelsMax } from '../core/limits/catalog.ts'
import type { ListedModel } from './listing.ts'

/** How a kind of server tells what a model is, where its listing does not. */
export interface Inspection {
  /** `only_model`: only a server of a single model is asked, because the question makes a server load it. */
  asks: 'each_model' | 'only_model'
  /** What the server tells of the model; null when it does not tell, or not yet. Rejects when it cannot be reached. */
  inspect: (upstreamModel: string, ask: AskServer) => Promise<InspectedFacts | null>
}

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

/** What a server may tell of a model. */
export type InspectedFacts = Pick<ListedModel, 'modality' | 'inputs'>

/** Completes listings of one deployment with what its server tells. */
export interface Inspector {
  /** The models as they came, those that the server told about completed. Never rejects. */
  complete(models: readonly ListedModel[], ask: AskServer): Promise<ListedModel[]>
}

/** Nothing is known yet. What a server told of a model is kept until its listing shows another one under the name. */
export function createInspector(inspection: Inspection): Inspector {
  let known = new Map<string, InspectedFacts>()
  return {
    async complete(models, ask) {
      const unknown = models.filter(({ modality }) => modality === undefined)
      const found = new Map<string, InspectedFacts>()
      for (const model of unknown) {
        const facts = known.get(keyOf(model))
        if (facts) found.set(keyOf(model), facts)
      }
      const asked = unknown.filter((model) => !found.has(keyOf(model))).slice(0, inspectedModelsMax)
      if (inspection.asks === 'each_model' || models.length === 1) {
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
): Promise<[ListedModel, InspectedFacts][]> {
  const waiting = [...models]
  const found: [ListedModel, InspectedFacts][] = []
  const worker = async () => {
    for (let model = waiting.shift(); model; model = waiting.shift()) {
      // A server that does not answer leaves the model to be told by its name, until it is asked again.
      const facts = await inspection.inspect(model.upstream, ask).catch(() => null)
      if (facts) found.push([model, facts])
    }
  }
  await Promise.all(Array.from({ length: discoveryConcurrencyMax }, worker))
  return found
}
