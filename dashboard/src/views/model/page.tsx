import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { modelsQuery, type Model } from '../../api/models.ts'
import { Id } from '../../parts/id.tsx'
import { Empty, PageHead, Panel, Skeleton } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { describePrice } from '../../values/model-price.ts'
import { formatCount, pricePer } from '../../values/money.ts'
import { formatDuration } from '../../values/time.ts'

type Endpoint = Schemas['Endpoint']

const liveMs = 10_000

const columns: readonly Column<Endpoint>[] = [
  { key: 'provider', header: 'Provider', phone: 'line-1', cell: ({ provider_name: name }) => <b>{name}</b> },
  { key: 'state', header: 'Health', phone: 'line-1-end', cell: (endpoint) => <Health endpoint={endpoint} /> },
  {
    key: 'price',
    header: 'Price per M, in / out',
    isNumber: true,
    phone: 'line-2',
    cell: ({ pricing }) =>
      `${pricePer(pricing.prompt, 1_000_000n) ?? '$0.00'} / ${pricePer(pricing.completion, 1_000_000n) ?? '$0.00'}`,
  },
  {
    key: 'latency',
    header: 'First token p50, 30 min',
    isNumber: true,
    phone: 'line-2-end',
    cell: ({ latency_last_30m: latency }) => (latency == null ? '–' : formatDuration(latency.p50)),
  },
  {
    key: 'throughput',
    header: 'Tokens/s p50, 30 min',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ throughput_last_30m: throughput }) =>
      throughput == null ? '–' : formatCount(Math.round(throughput.p50)),
  },
]

function Health({ endpoint }: { endpoint: Endpoint }) {
  const uptime = endpoint.uptime_last_5m ?? endpoint.uptime_last_30m
  if (uptime == null) return <State kind="idle">not asked lately</State>
  const shown = `${uptime === 100 ? '100' : uptime.toFixed(1)} % answered`
  if (uptime >= 99) return <State kind="ok">{shown}</State>
  return <State kind={uptime >= 50 ? 'warn' : 'bad'}>{shown}</State>
}

const playgrounds: Readonly<Record<string, { to: string; parameter: string }>> = {
  text: { to: '/chat', parameter: 'models' },
  speech: { to: '/speech', parameter: 'model' },
  transcription: { to: '/transcription', parameter: 'model' },
}

export function Page() {
  const { _splat: id = '' } = useParams({ strict: false }) as { _splat?: string }
  const models = useQuery(modelsQuery)
  const model = models.data?.find((one) => one.id === id)
  const endpoints = useQuery({
    queryKey: ['model-endpoints', id],
    queryFn: async ({ signal }) => (await call('GET /models/{id}/endpoints', { path: { id }, signal })).data,
    refetchInterval: liveMs,
  })
  const playground = playgrounds[model?.architecture.output_modalities[0] ?? '']
  return (
    <>
      <PageHead title={id} back={{ to: '/models', word: 'All models' }}>
        {playground && (
          <Link to={playground.to} search={{ [playground.parameter]: id }} className="button compact">
            Try it
          </Link>
        )}
      </PageHead>
      <div className="page-body">
        <Reading
          of={models}
          place={
            <Panel title="Model">
              <Skeleton height={224} />
            </Panel>
          }
        >
          {() => (model ? <Facts model={model} /> : <Empty title="No model has this id here" />)}
        </Reading>
        <Panel title="Who serves it" of={endpoints}>
          <Reading of={endpoints} place={<Skeleton height={72} />}>
            {(data) => (
              <Table
                label="Endpoints"
                columns={columns}
                rows={data.endpoints}
                keyOf={({ name, tag }) => `${name}${tag}`}
              />
            )}
          </Reading>
        </Panel>
      </div>
    </>
  )
}

function Facts({ model }: { model: Model }) {
  const { architecture, supported_parameters: parameters, supported_voices: voices } = model
  return (
    <Panel title="Model">
      <dl className="facts">
        <dt>id</dt>
        <dd>
          <Id value={model.id} isWhole />
        </dd>
        <dt>Takes → gives</dt>
        <dd>
          {architecture.input_modalities.join(', ')} → {architecture.output_modalities.join(', ')}
        </dd>
        <dt>Price</dt>
        <dd>{describePrice(model)}</dd>
        {model.context_length !== null && (
          <>
            <dt>context_length</dt>
            <dd>{formatCount(model.context_length)} tokens</dd>
          </>
        )}
        {voices !== null && (
          <>
            <dt>Voices</dt>
            <dd>{voices.join(', ')}</dd>
          </>
        )}
        {parameters.length > 0 && (
          <>
            <dt>Parameters</dt>
            <dd>{parameters.join(', ')}</dd>
          </>
        )}
        {model.expiration_date !== undefined && (
          <>
            <dt>Ends</dt>
            <dd>
              <State kind="warn">{model.expiration_date}</State>
            </dd>
          </>
        )}
      </dl>
    </Panel>
  )
}
