import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Stethoscope } from 'lucide-react'
import { call } from '../../api/client.ts'
import type { Operations, Schemas } from '../../api/openapi.gen.ts'
import { useMay } from '../../app/session.ts'
import { systemQuery } from '../../app/system.ts'
import { Button } from '../../parts/button.tsx'
import { Figure, Figures, FiguresPlace } from '../../parts/figures.tsx'
import { Empty, PageHead, Panel, SkeletonRows, Skeleton } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { State, type StateKind } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Time } from '../../parts/values.tsx'
import { errorWords } from '../../values/error-words.ts'
import { formatCount } from '../../values/money.ts'
import { formatShare } from '../../values/share.ts'
import { formatDuration, formatSpan } from '../../values/time.ts'
import { healthWord } from './health-words.ts'

type Deployment = Schemas['DeploymentHealth']
type DoctorReport = Operations['GET /headrace/doctor']['answer']['data']

const liveMs = 2000

/** What may grow while it is looked at stands last: trouble of deployments, and what the doctor has found. */
export function Page() {
  const may = useMay()
  const doctor = useQuery({
    queryKey: ['doctor'],
    queryFn: async ({ signal }) => (await call('GET /headrace/doctor', { signal })).data,
    enabled: false,
  })
  return (
    <>
      <PageHead title="System">
        {may('GET /headrace/doctor') && (
          <Button
            isCompact
            isBusy={doctor.isFetching}
            title="Checks that the books balance, that providers answer, and all else that “npx headrace doctor” does. It may take some seconds."
            onClick={() => void doctor.refetch()}
          >
            <Stethoscope size={14} aria-hidden />
            Examine
          </Button>
        )}
      </PageHead>
      <div className="page-body">
        <Processes />
        <Deployments />
        {(doctor.data !== undefined || doctor.failureReason !== null) && (
          <Panel title="Doctor" of={doctor}>
            <Reading of={doctor} place={<Skeleton height={120} />}>
              {(report) => <Findings report={report} />}
            </Reading>
          </Panel>
        )}
      </div>
    </>
  )
}

const deploymentColumns: readonly Column<Deployment>[] = [
  {
    key: 'name',
    header: 'Deployment',
    phone: 'line-1',
    cell: ({ id, provider_name: name }) => (
      <>
        <b>{name}</b> <span className="muted">{id}</span>
      </>
    ),
  },
  {
    key: 'state',
    header: 'Health',
    phone: 'line-1-end',
    cell: (deployment) => <Health deployment={deployment} />,
  },
  {
    key: 'models',
    header: 'Models',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ models }) => formatCount(models),
  },
  {
    key: 'running',
    header: 'Running / limit',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ running, waiting, limit }) =>
      `${running}${limit === null ? '' : ` / ${limit}`}${waiting > 0 ? `, ${waiting} wait` : ''}`,
  },
  {
    key: 'requests',
    header: 'Requests, 30 min',
    isNumber: true,
    phone: 'line-2',
    phoneWord: 'Requests',
    cell: ({ last_30m: last }) => formatCount(last.requests),
  },
  {
    key: 'errors',
    header: 'Failed, 30 min',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ last_30m: { requests, errors } }) =>
      errors === 0 ? '0' : `${formatCount(errors)} (${formatShare(errors, requests)})`,
  },
  {
    key: 'p50',
    header: 'p50',
    isNumber: true,
    phone: 'line-2-end',
    phoneWord: 'p50',
    cell: ({ last_30m: { p50_ms: ms } }) => (ms === null ? '–' : formatDuration(ms)),
  },
]

function Deployments() {
  const deployments = useQuery({
    queryKey: ['deployments'],
    queryFn: async ({ signal }) => (await call('GET /headrace/deployments', { signal })).data,
    refetchInterval: liveMs,
  })
  return (
    <Panel title="Deployments" of={deployments}>
      <Reading of={deployments} place={<SkeletonRows rows={3} />}>
        {(rows) => (
          <>
            {rows.length === 0 ? (
              <Empty title="No provider is configured">
                <Link to="/start" className="button">
                  Add a provider
                </Link>
              </Empty>
            ) : (
              <Table label="Deployments" columns={deploymentColumns} rows={rows} keyOf={({ id }) => id} />
            )}
            {rows
              .filter(
                (deployment) =>
                  deployment.state !== 'healthy' ||
                  (deployment.last_error !== null && healthWord(deployment).kind !== 'ok'),
              )
              .map((deployment) => (
                <Trouble key={deployment.id} deployment={deployment} />
              ))}
          </>
        )}
      </Reading>
    </Panel>
  )
}

function Health({ deployment }: { deployment: Deployment }) {
  const { kind, word } = healthWord(deployment)
  return <State kind={kind}>{word}</State>
}

/** What is wrong with a deployment, and the next step. */
function Trouble({ deployment }: { deployment: Deployment }) {
  const { provider_name: name, last_error: error, next_try_at: nextTry, since } = deployment
  const { requests, errors } = deployment.last_30m
  const { kind, word } = healthWord(deployment)
  // The gateway names no step for a deployment that it calls again.
  const meaning = error === null ? null : errorWords(error.type)
  const next = deployment.next === null ? meaning : `Next: ${deployment.next}`
  return (
    <div className="trouble" role="status">
      <State kind={kind}>
        {name}: {word.toLowerCase()}
        {since !== null && (
          <span className="muted">
            since <Time at={since} />
          </span>
        )}
      </State>
      {error !== null && (
        <span>
          Last failure <Time at={error.at} />: <code>{error.type}</code> status {error.status} {error.message}
        </span>
      )}
      {next !== null && <span>{next}</span>}
      {(errors > 0 || error !== null) && (
        <span>
          {errors > 0 &&
            `${formatCount(errors)} of ${formatCount(requests)} calls failed in the last 30 minutes (${formatShare(errors, requests)}): `}
          <Link to="/requests" search={{ provider: deployment.id, outcome: 'failed' }}>
            failed calls
          </Link>
        </span>
      )}
      {nextTry !== null && (
        <span className="muted small">
          asked again at <Time at={nextTry} />
        </span>
      )}
    </div>
  )
}

const levels: Readonly<Record<string, StateKind>> = { ok: 'ok', warning: 'warn', problem: 'bad' }

function Findings({ report }: { report: DoctorReport }) {
  return (
    <ul>
      {report.findings.map(({ level, subject, message, next }) => (
        <li key={`${subject}${message}`} className="error-group">
          <State kind={levels[level] ?? 'idle'}>{subject}</State>
          <span>{message}</span>
          <span />
          {next !== null && <span className="ids">Next: {next}</span>}
        </li>
      ))}
    </ul>
  )
}

type Process = Schemas['System']['processes'][number]

const processColumns: readonly Column<Process>[] = [
  {
    key: 'host',
    header: 'Process',
    phone: 'line-1',
    cell: ({ host, pid, role }) => (
      <>
        <b>{host}</b> <span className="muted">{pid}</span>{' '}
        {role !== 'all' && <span className="tag">{role}</span>}
      </>
    ),
  },
  { key: 'version', header: 'Version', phone: 'wide-only', cell: ({ version }) => version },
  {
    key: 'started',
    header: 'Started',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ started_at: at }) => <Time at={at} />,
  },
  {
    key: 'seen',
    header: 'Seen',
    isNumber: true,
    phone: 'line-1-end',
    phoneWord: 'seen',
    cell: ({ seen_at: at }) => <Time at={at} />,
  },
  {
    key: 'running',
    header: 'Running',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ requests_running: running }) => formatCount(running),
  },
  {
    key: 'queued',
    header: 'Captures queued',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ captures_queued: queued }) => formatCount(queued),
  },
  {
    key: 'dropped',
    header: 'Log lines lost',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ log_dropped: dropped }) => formatCount(dropped),
  },
]

function Processes() {
  const system = useQuery({ ...systemQuery, refetchInterval: liveMs })
  return (
    <Panel title="Gateway" of={system}>
      <Reading of={system} place={<ProcessesPlace />}>
        {(data) => (
          <div className="stack">
            <Figures>
              <Figure word="Version">{data.version}</Figure>
              <Figure word="Database">
                {data.database}, schema {data.schema_version}
              </Figure>
              <Figure word="Open batches">{formatCount(data.queues.batches_open)}</Figure>
              <Figure word="Items waiting">
                {waits(data.queues.items_waiting, data.queues.oldest_waiting_seconds)}
              </Figure>
              <Figure word="Events waiting">
                {waits(data.queues.deliveries_waiting, data.queues.oldest_delivery_seconds)}
              </Figure>
              <Figure word="Request log">
                {data.request_log.is_on ? `${data.request_log.days} days` : 'off'}
              </Figure>
            </Figures>
            <Table label="Processes" columns={processColumns} rows={data.processes} keyOf={({ id }) => id} />
          </div>
        )}
      </Reading>
    </Panel>
  )
}

const figureWords = [
  'Version',
  'Database',
  'Open batches',
  'Items waiting',
  'Events waiting',
  'Request log',
] as const

function ProcessesPlace() {
  return (
    <div className="stack reading">
      <FiguresPlace words={figureWords} />
      <SkeletonRows rows={2} />
    </div>
  )
}

function waits(count: number, oldestSeconds: number | null): string {
  return oldestSeconds === null
    ? formatCount(count)
    : `${formatCount(count)}, oldest ${formatSpan(oldestSeconds)}`
}
