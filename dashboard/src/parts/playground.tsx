import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { useSyncExternalStore, type ReactNode } from 'react'
import { modelsQuery, useModels, type Model, type ModelKind } from '../api/models.ts'
import { useFilters } from '../app/filters.ts'
import { ModelPicker } from './model-picker.tsx'
import { Empty, PageHead, Skeleton } from './page.tsx'
import { Reading, type Readable } from './reading.tsx'

/** The models of one kind, and the one that is tried. */
export interface ModelChoice {
  /** Undefined until they are read. */
  models: readonly Model[] | undefined
  model: Model | undefined
  /** How reading all models goes. */
  catalog: Readable<unknown>
  choose: (id: string) => void
}

/** The models of one kind; the address names the one that is tried, else it is the one that `isFirst` knows. */
export function useModelChoice(kind: ModelKind, isFirst: (id: string) => boolean): ModelChoice {
  const models = useModels(kind)
  const catalog = useQuery(modelsQuery)
  const [filters, setFilters] = useFilters()
  const model =
    models?.find(({ id }) => id === filters['model']) ?? models?.find(({ id }) => isFirst(id)) ?? models?.[0]
  return {
    models,
    model,
    catalog,
    // A voice is one of its model.
    choose: (id) => setFilters({ model: id, voice: null }),
  }
}

/** A page on which models of one kind are tried, with its settings beside what they give. */
export function Playground({
  title,
  choice,
  none,
  settings,
  children,
}: {
  title: string
  choice: ModelChoice
  /** What is said where no model of the kind is served. */
  none: { title: string; words: string }
  settings: ReactNode
  children: ReactNode
}) {
  const { models, model, catalog } = choice
  return (
    <>
      <PageHead title={title} of={catalog} />
      {models === undefined ? (
        <div className="page-body">
          <Reading of={catalog} place={<Skeleton height={240} />}>
            {() => null}
          </Reading>
        </div>
      ) : (
        <Split
          side={
            model && (
              <>
                <div className="field">
                  <span className="field-label">Model</span>
                  <ModelPicker label="Model" models={models} value={model.id} onChange={choice.choose} />
                </div>
                {settings}
              </>
            )
          }
          sideSummary={model?.id ?? ''}
        >
          {model === undefined ? (
            <Empty title={none.title}>
              <p>{none.words}</p>
            </Empty>
          ) : (
            children
          )}
        </Split>
      )}
    </>
  )
}

/** Settings beside the page; on a narrow screen folded above it, so that what comes below pushes nothing away. */
function Split({
  side,
  sideSummary,
  children,
}: {
  side: ReactNode
  sideSummary: string
  children: ReactNode
}) {
  const isNarrow = useSyncExternalStore(subscribe, () => narrow.matches)
  return (
    <div className="split">
      {isNarrow && side && (
        <details className="split-fold">
          <summary>
            <ChevronRight size={14} aria-hidden />
            Settings
            <span className="muted cut">{sideSummary}</span>
          </summary>
          <div className="stack">{side}</div>
        </details>
      )}
      <div className="split-main stack loose">{children}</div>
      {!isNarrow && (
        <aside className="split-side stack" aria-label="Settings">
          {side}
        </aside>
      )}
    </div>
  )
}

/** As `.split` of the styles has it. */
const narrow = matchMedia('(max-width: 1023px)')

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}
