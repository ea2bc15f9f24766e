import { useQuery } from '@tanstack/react-query'
import { modelsQuery, type Model } from '../../api/models.ts'
import { useFilters } from '../../app/filters.ts'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Empty, PageHead, SkeletonRows } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { describePrice } from '../../values/model-price.ts'
import { compactNumber, formatCount } from '../../values/money.ts'

const kinds = ['text', 'speech', 'transcription', 'embeddings', 'rerank'] as const

const columns: readonly Column<Model>[] = [
  { key: 'id', header: 'id', phone: 'line-1', cell: ({ id }) => <b>{id}</b> },
  {
    key: 'modality',
    header: 'Takes → gives',
    phone: 'line-2',
    cell: ({ architecture }) =>
      `${architecture.input_modalities.join(', ')} → ${architecture.output_modalities.join(', ')}`,
  },
  {
    key: 'context',
    header: 'context_length',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ context_length: length }) => (length === null ? '–' : compactNumber(length)),
  },
  {
    key: 'price',
    header: 'Price',
    isNumber: true,
    phone: 'line-1-end',
    cell: (model) => <Price model={model} />,
  },
  {
    key: 'voices',
    header: 'Voices',
    isNumber: true,
    phone: 'line-2-end',
    cell: ({ supported_voices: voices }) => (voices === null ? '' : voices.length),
  },
]

function Price({ model }: { model: Model }) {
  const text = describePrice(model).split(' · ')[0] ?? ''
  return text === 'unpriced' && !('headrace' in model && model.headrace !== undefined) ? (
    <State kind="warn">unpriced</State>
  ) : (
    text
  )
}

export function Page() {
  const [filters, setFilters] = useFilters()
  const models = useQuery(modelsQuery)
  const wanted = (filters['id'] ?? '').toLowerCase()
  const kind = filters['kind'] ?? ''
  const rows = (models.data ?? [])
    .filter(
      ({ id, architecture }) =>
        id.toLowerCase().includes(wanted) &&
        (kind === '' || (architecture.output_modalities as readonly string[]).includes(kind)),
    )
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
  return (
    <>
      <PageHead
        title="Models"
        beside={models.data && <span className="muted small">{formatCount(rows.length)}</span>}
        of={models}
      />
      <div className="page-body">
        <div className="filters">
          <TextField
            label="Filter by id"
            isLabelHidden
            className="compact"
            placeholder="Part of the id"
            value={filters['id'] ?? ''}
            onChange={(event) => setFilters({ id: event.target.value })}
          />
          <SelectField
            label="What it gives"
            isLabelHidden
            isCompact
            value={kind}
            onChange={(value) => setFilters({ kind: value })}
            choices={[
              { value: '', label: 'Every output' },
              ...kinds.map((value) => ({ value, label: value })),
            ]}
          />
        </div>
        <Reading of={models} place={<SkeletonRows />}>
          {() =>
            rows.length > 0 ? (
              <Table
                label="Models"
                columns={columns}
                rows={rows}
                keyOf={({ id }) => id}
                linkOf={({ id }) => `/model/${id}`}
              />
            ) : (
              <Empty title="No model fits">
                <p>Take a filter away, or set the key of another provider and start the gateway again.</p>
              </Empty>
            )
          }
        </Reading>
      </div>
    </>
  )
}
