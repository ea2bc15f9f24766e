import { queryOptions, useQuery } from '@tanstack/react-query'
import { call } from './client.ts'
import type { Schemas } from './openapi.gen.ts'

export type Model = Schemas['Model']

/** Every model that is served here. Variants of a model (`:batch`, `:free`) are left to those who name them. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => {
    const { data } = await call('GET /models', { query: { output_modalities: 'all' }, signal })
    return data.filter(({ id }) => !id.includes(':'))
  },
  staleTime: 30_000,
})

export type ModelKind = 'text' | 'speech' | 'transcription' | 'embeddings' | 'rerank'

/** The model for a first call: the wanted one where it is served, else the first of its kind. */
export function firstModel(models: readonly Model[], kind: ModelKind, wanted: string): Model | null {
  const fitting = models.filter(({ architecture }) =>
    (architecture.output_modalities as readonly string[]).includes(kind),
  )
  return fitting.find(({ id }) => id === wanted) ?? fitting[0] ?? null
}

/** The models that give this kind of output, in the order of their names. */
export function useModels(kind: ModelKind): Model[] | undefined {
  const { data } = useQuery(modelsQuery)
  return data
    ?.filter(({ architecture }) => (architecture.output_modalities as readonly string[]).includes(kind))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
}
