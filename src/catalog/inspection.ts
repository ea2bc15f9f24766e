import { discoveryConcurrencyMax } from '../core/limits/catalog.ts'
import type { ListedModel } from './listing.ts'

/** Models that a server is asked about one by one after one reading; the others are asked about after the next. */
const inspectedModelsMax = 500

/** How to ask a kind of server what a model is, when its listing does not tell. */
export interface Inspection {
  /** `only_model`: asked only when the server has a single model, because the question makes the server load it. */
  asks: 'each_model' | 'only_model'
  /** The server's facts about the model; null when it does not tell them, or not yet. Rejects when it cannot be reached. */
  inspect: (upstreamModel: string, ask: AskServer) => Promise<InspectedFacts | null>
}

/** A request to a server; its path is below the server's root, not below the API's version. */
export interface InspectionQuestion {
  method: 'GET' | 'POST'
  path: string
  body: Readonly<Record<string, unknown>> | null
}

/** The server's reply; `body` is undefined when it is not JSON. */
export interface InspectionReply {
  status: number
  body: unknown
}

/** Asks one server; rejects when it cannot be reached. */
export type AskServer = (question: InspectionQuestion) => Promise<InspectionReply>

/** The facts that a server may tell about a model. */
export type InspectedFacts = Pick<ListedModel, 'modality' | 'inputs'>

/** Completes the listings of one deployment with facts from its server. */
export interface Inspector {
  /** The same models, with the facts that the server told. Never rejects. */
  complete(models: readonly ListedModel[], ask: AskServer): Promise<ListedModel[]>
}

/** Facts about a model are kept until the listing has a different model of the same name. */
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

/** Has the creation time, because a different model of the same name was created at a different time. */
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
      // When the server does not answer, the model's name decides, until the next reading asks again.
      const facts = await inspection.inspect(model.upstream, ask).catch(() => null)
      if (facts) found.push([model, facts])
    }
  }
  await Promise.all(Array.from({ length: discoveryConcurrencyMax }, worker))
  return found
}
