import { useNavigate } from '@tanstack/react-router'
import { FileCheck2, FileUp, TriangleAlert, X } from 'lucide-react'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import { useModels } from '../../api/models.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { upload } from '../../api/upload.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code.tsx'
import { Failure } from '../../parts/failure.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { PageHead, Panel } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Credits } from '../../parts/values.tsx'
import { randomId } from '../../values/random-id.ts'
import type { BatchEndpoint, LineReport } from '../../values/line-check.ts'
import { formatBytes, formatCount } from '../../values/money.ts'
import { laneWords } from '../batches/batch-parts.tsx'
import { runLineTask, type CheckProgress } from './line-worker.ts'

type Estimate = Schemas['BatchEstimate']
type Lane = 'auto' | 'native' | 'flex' | 'emulated'

type Step =
  | { name: 'idle' }
  | { name: 'checking'; progress: CheckProgress }
  | { name: 'checked' }
  | { name: 'packing'; progress: CheckProgress }
  | { name: 'sending'; word: string; sent: number; total: number }
  | { name: 'estimated'; estimate: Estimate; body: Blob; head: string }

const endpointChoices: readonly { value: BatchEndpoint; label: string }[] = [
  { value: '/v1/chat/completions', label: '/v1/chat/completions' },
  { value: '/v1/responses', label: '/v1/responses' },
  { value: '/v1/messages', label: '/v1/messages' },
  { value: '/v1/embeddings', label: '/v1/embeddings' },
]

const exampleLines = `{"custom_id":"one","body":{"messages":[{"role":"user","content":"Say one."}]}}
{"custom_id":"two","body":{"messages":[{"role":"user","content":"Say two."}]}}
`

export function Page() {
  const navigate = useNavigate()
  const text = useModels('text')
  const embeddings = useModels('embeddings')
  const [file, setFile] = useState<File | null>(null)
  const [report, setReport] = useState<LineReport | null>(null)
  const [step, setStep] = useState<Step>({ name: 'idle' })
  const [failure, setFailure] = useState<unknown>(null)
  const [endpoint, setEndpoint] = useState<BatchEndpoint>('/v1/chat/completions')
  const [model, setModel] = useState('')
  const [lane, setLane] = useState<Lane>('auto')
  const [maxCost, setMaxCost] = useState('')
  const controller = useRef<AbortController | null>(null)
  const idempotencyKey = useRef('')
  useEffect(() => () => controller.current?.abort(), [])

  const begin = () => {
    controller.current?.abort()
    controller.current = new AbortController()
    setFailure(null)
    return controller.current.signal
  }
  const fail = (error: unknown, back: Step) => {
    setStep(back)
    if (!(error instanceof DOMException && error.name === 'AbortError')) setFailure(error)
  }

  const take = async (chosen: File) => {
    const signal = begin()
    setFile(chosen)
    setReport(null)
    idempotencyKey.current = randomId()
    setStep({ name: 'checking', progress: { bytes: 0, lines: 0, faultCount: 0 } })
    try {
      const checked = await runLineTask(
        { file: chosen, head: null },
        { signal, onProgress: (progress) => setStep({ name: 'checking', progress }) },
      )
      setReport(checked.report)
      if (checked.report.endpoint !== null) setEndpoint(checked.report.endpoint)
      if (checked.report.model !== null) setModel(checked.report.model)
      setStep({ name: 'checked' })
    } catch (error) {
      fail(error, { name: 'idle' })
    }
  }

  const head = {
    endpoint,
    model,
    headrace: { lane, ...(maxCost === '' ? {} : { max_cost: Number(maxCost) }) },
  }
  const headText = JSON.stringify(head)

  const estimate = async () => {
    if (file === null) return
    const signal = begin()
    setStep({ name: 'packing', progress: { bytes: 0, lines: 0, faultCount: 0 } })
    try {
      const { body } = await runLineTask(
        { file, head },
        { signal, onProgress: (progress) => setStep({ name: 'packing', progress }) },
      )
      if (body === null) return
      const word = 'Sending for the estimate'
      setStep({ name: 'sending', word, sent: 0, total: body.size })
      const answer = await upload('/batches?dry_run=true', body, {
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        signal,
        onProgress: (sent, total) => setStep({ name: 'sending', word, sent, total }),
      })
      setStep({ name: 'estimated', estimate: JSON.parse(answer.text) as Estimate, body, head: headText })
    } catch (error) {
      fail(error, { name: 'checked' })
    }
  }

  const create = async (estimated: Extract<Step, { name: 'estimated' }>) => {
    const signal = begin()
    const { body } = estimated
    setStep({ name: 'sending', word: 'Sending', sent: 0, total: body.size })
    try {
      const answer = await upload('/batches', body, {
        headers: {
          'content-type': 'application/json',
          'content-encoding': 'gzip',
          // The same for another try of the same file: it stays one batch.
          'idempotency-key': `${idempotencyKey.current}-${hashText(headText)}`,
        },
        signal,
        onProgress: (sent, total) => setStep({ name: 'sending', word: 'Sending', sent, total }),
      })
      const { id } = JSON.parse(answer.text) as { id: string }
      void navigate({ to: `/batches/${id}` })
    } catch (error) {
      fail(error, estimated)
    }
  }

  const clear = () => {
    controller.current?.abort()
    setFile(null)
    setReport(null)
    setFailure(null)
    setStep({ name: 'idle' })
  }
  const models = (endpoint === '/v1/embeddings' ? embeddings : text) ?? []
  const isBusy = step.name === 'checking' || step.name === 'packing' || step.name === 'sending'
  const isMaxCostWrong = maxCost !== '' && !(Number(maxCost) >= 0)
  const isEstimated = step.name === 'estimated' && step.head === headText
  return (
    <>
      <PageHead title="New batch" back={{ to: '/batches', word: 'All batches' }} />
      <div className="page-body narrow">
        <div className="stack loose">
          {file === null ? (
            <DropFile onFile={(chosen) => void take(chosen)} />
          ) : (
            <FileHead file={file} onRemove={clear} />
          )}
          {isBusy && file !== null && (
            <Busy step={step} file={file} onStop={() => controller.current?.abort()} />
          )}
          {report !== null && <Report report={report} />}
          {failure !== null && <Failure error={failure} />}
          {report !== null && report.items > 0 && (
            <Panel title="How it runs">
              <div className="stack">
                <SelectField
                  label="endpoint"
                  value={endpoint}
                  onChange={setEndpoint}
                  choices={endpointChoices}
                />
                <div className="field">
                  <span className="field-label">model</span>
                  <ModelPicker label="model" models={models} value={model} onChange={setModel} />
                  {report.model !== null && report.model !== model && (
                    <p className="wrong">The lines name {report.model}; a batch has one model.</p>
                  )}
                </div>
                <SelectField
                  label="lane"
                  value={lane}
                  onChange={setLane}
                  choices={[
                    { value: 'auto', label: 'auto: the cheapest way there is' },
                    ...(['native', 'flex', 'emulated'] as const).map((value) => ({
                      value,
                      label: laneWords[value] ?? value,
                    })),
                  ]}
                />
                <TextField
                  label="max_cost"
                  inputMode="decimal"
                  placeholder="no limit of its own"
                  hint="In credits. The batch ends when its items would cost more."
                  value={maxCost}
                  wrong={isMaxCostWrong ? 'A number of credits, such as 2.5.' : null}
                  onChange={(event) => setMaxCost(event.target.value.trim())}
                />
                {!isEstimated && (
                  <div>
                    <Button
                      kind="primary"
                      isBusy={isBusy}
                      disabled={model === '' || isMaxCostWrong}
                      onClick={() => void estimate()}
                    >
                      Estimate
                    </Button>
                  </div>
                )}
              </div>
            </Panel>
          )}
          {step.name === 'estimated' && isEstimated && (
            <EstimateView
              estimate={step.estimate}
              faultCount={report?.faultCount ?? 0}
              onCreate={() => void create(step)}
            />
          )}
        </div>
      </div>
    </>
  )
}

function DropFile({ onFile }: { onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const file = event.dataTransfer.files[0]
    if (file !== undefined) onFile(file)
  }
  return (
    <div className="stack">
      <div
        className="drop"
        data-over={isOver}
        role="group"
        aria-label="File of lines"
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <Button kind="primary" onClick={() => input.current?.click()}>
          <FileUp size={14} aria-hidden />
          Choose a file
        </Button>
        <p>or drop a JSONL file here, up to 200 MB. It is checked in this browser before anything is sent.</p>
        <input
          ref={input}
          type="file"
          hidden
          accept=".jsonl,.ndjson,.txt,application/jsonl"
          aria-label="File of lines"
          onChange={(event) => {
            const file = event.target.files?.[0]
            if (file !== undefined) onFile(file)
            event.target.value = ''
          }}
        />
      </div>
      <CodeBlock label="Lines are like these; files made for OpenAI’s batches fit too" text={exampleLines} />
    </div>
  )
}

function FileHead({ file, onRemove }: { file: File; onRemove: () => void }) {
  return (
    <div className="row">
      <FileCheck2 size={16} aria-hidden />
      <b className="cut">{file.name}</b>
      <span className="muted small">{formatBytes(file.size)}</span>
      <span className="grow" />
      <IconButton word="Choose another file" onClick={onRemove}>
        <X size={14} aria-hidden />
      </IconButton>
    </div>
  )
}

function Busy({ step, file, onStop }: { step: Step; file: File; onStop: () => void }) {
  if (step.name !== 'checking' && step.name !== 'packing' && step.name !== 'sending') return null
  const isSending = step.name === 'sending'
  const done = isSending ? step.sent : step.progress.bytes
  const total = isSending ? step.total : file.size
  const share = total === 0 ? 0 : Math.min(1, done / total)
  const isWaiting = isSending && done >= total
  const words = () => {
    if (isWaiting) return 'Sent; the gateway checks it'
    if (isSending) return `${step.word}: ${formatBytes(done)} of ${formatBytes(total)}, compressed`
    return `${step.name === 'checking' ? 'Checking' : 'Packing'} line ${formatCount(step.progress.lines)}`
  }
  return (
    <div className="stack tight">
      <div className="row">
        <State kind="running">{words()}</State>
        <span className="grow" />
        <Button isCompact kind="quiet" onClick={onStop}>
          Stop
        </Button>
      </div>
      <div
        className="bar"
        role="progressbar"
        aria-label="Progress"
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}

function Report({ report }: { report: LineReport }) {
  return (
    <Panel title="Lines">
      <div className="stack">
        <div className="row wrap">
          <State kind={report.items > 0 ? 'ok' : 'bad'}>{formatCount(report.items)} items can be sent</State>
          {report.faultCount > 0 && <State kind="bad">{formatCount(report.faultCount)} bad lines</State>}
        </div>
        {report.faultCount > 0 && (
          <>
            <ul className="faults" aria-label="Bad lines" tabIndex={0}>
              {report.faults.map(({ line, message }) => (
                <li key={line} className="small">
                  <b>line {formatCount(line)}</b>: {message}
                </li>
              ))}
            </ul>
            {report.faultCount > report.faults.length && (
              <p className="hint">The first {report.faults.length} of them are shown.</p>
            )}
            <div className="note warn">
              <TriangleAlert size={16} aria-hidden />
              <p>Bad lines are left out. Mend the file and choose it again to send them too.</p>
            </div>
          </>
        )}
      </div>
    </Panel>
  )
}

function EstimateView({
  estimate,
  faultCount,
  onCreate,
}: {
  estimate: Estimate
  faultCount: number
  onCreate: () => void
}) {
  const isShort = estimate.available !== null && estimate.available < estimate.worst_case
  return (
    <Panel title="Estimate">
      <div className="stack">
        <dl className="figures">
          <div className="figure">
            <dt>Estimate</dt>
            <dd>
              <Credits value={estimate.estimate} />
            </dd>
          </div>
          <div className="figure">
            <dt>Worst case</dt>
            <dd>
              <Credits value={estimate.worst_case} />
            </dd>
          </div>
          <div className="figure">
            <dt>Available</dt>
            <dd>{estimate.available === null ? 'not limited' : <Credits value={estimate.available} />}</dd>
          </div>
        </dl>
        <dl className="facts">
          <dt>Items</dt>
          <dd>{formatCount(estimate.total)}</dd>
          <dt>Lane</dt>
          <dd>{laneWords[estimate.lane] ?? estimate.lane}</dd>
          <dt>Provider</dt>
          <dd>{estimate.provider ?? 'whichever serves the model'}</dd>
          {estimate.lanes.length > 1 && (
            <>
              <dt>Other lanes</dt>
              <dd>
                {estimate.lanes.slice(1).map((one) => (
                  <div key={one.lane}>
                    {one.lane} <Credits value={one.estimate} />, at most <Credits value={one.worst_case} />
                  </div>
                ))}
              </dd>
            </>
          )}
        </dl>
        {isShort && (
          <div className="note warn">
            <TriangleAlert size={16} aria-hidden />
            <p>
              The worst case is more than what is available. The batch is accepted; if its items cost more
              than the estimate, the results wait until credits are added.
            </p>
          </div>
        )}
        <div>
          <Button kind="primary" onClick={onCreate}>
            Create the batch{faultCount > 0 ? ` without ${formatCount(faultCount)} bad lines` : ''}
          </Button>
        </div>
      </div>
    </Panel>
  )
}

/** A short name of a text, so that other settings are another batch. */
function hashText(text: string): string {
  let hash = 5381
  for (let index = 0; index < text.length; index += 1)
    hash = (Math.imul(hash, 33) + text.charCodeAt(index)) >>> 0
  return hash.toString(36)
}
