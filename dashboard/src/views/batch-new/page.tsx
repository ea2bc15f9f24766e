import { FileCheck2, FileUp, X } from 'lucide-react'
import { useModels } from '../../api/models.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code.tsx'
import { DropFile } from '../../parts/drop-file.tsx'
import { Failure } from '../../parts/failure.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { PageHead, Panel } from '../../parts/page.tsx'
import { Progress } from '../../parts/progress.tsx'
import type { BatchEndpoint } from '../../values/line-check.ts'
import { formatBytes, formatCount } from '../../values/money.ts'
import { laneWords } from '../batches/batch-parts.tsx'
import { EstimateView } from './estimate-view.tsx'
import { LinesReport } from './lines-report.tsx'
import { useNewBatch, type Lane, type NewBatch, type Step } from './use-new-batch.ts'

const endpointChoices: readonly { value: BatchEndpoint; label: string }[] = [
  { value: '/v1/chat/completions', label: '/v1/chat/completions' },
  { value: '/v1/responses', label: '/v1/responses' },
  { value: '/v1/messages', label: '/v1/messages' },
  { value: '/v1/embeddings', label: '/v1/embeddings' },
]

const laneChoices: readonly { value: Lane; label: string }[] = [
  { value: 'auto', label: 'auto: the cheapest way there is' },
  ...(['native', 'flex', 'emulated'] as const).map((value) => ({ value, label: laneWords[value] })),
]

const exampleLines = `{"custom_id":"one","body":{"messages":[{"role":"user","content":"Say one."}]}}
{"custom_id":"two","body":{"messages":[{"role":"user","content":"Say two."}]}}
`

export function Page() {
  const batch = useNewBatch()
  const { file, report, step, estimated } = batch
  return (
    <>
      <PageHead title="New batch" back={{ to: '/batches', word: 'All batches' }} />
      <div className="page-body narrow">
        <div className="stack loose">
          {file === null ? (
            <ChooseFile onFile={batch.take} />
          ) : (
            <FileHead file={file} onRemove={batch.clear} />
          )}
          {file !== null && (
            // Its place stays, so that nothing below moves when a step begins or ends.
            <div className="progress-place">
              <StepProgress step={step} file={file} onStop={batch.stop} />
            </div>
          )}
          {report !== null && <LinesReport report={report} />}
          {batch.failure !== null && <Failure error={batch.failure} />}
          {report !== null && report.items > 0 && <Settings batch={batch} linesModel={report.model} />}
          {estimated !== null && (
            <EstimateView
              estimate={estimated.estimate}
              faultCount={report?.faultCount ?? 0}
              onCreate={batch.create}
            />
          )}
        </div>
      </div>
    </>
  )
}

function ChooseFile({ onFile }: { onFile: (file: File) => void }) {
  return (
    <div className="stack">
      <DropFile
        label="File of lines"
        inputLabel="File of lines"
        accept=".jsonl,.ndjson,.txt,application/jsonl"
        onFile={onFile}
      >
        {(choose) => (
          <>
            <Button kind="primary" onClick={choose}>
              <FileUp size={14} aria-hidden />
              Choose a file
            </Button>
            <p>
              or drop a JSONL file here, up to 200 MB. It is checked in this browser before anything is sent.
            </p>
          </>
        )}
      </DropFile>
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

function StepProgress({ step, file, onStop }: { step: Step; file: File; onStop: () => void }) {
  if (step.name === 'checking' || step.name === 'packing') {
    const { lines, bytes } = step.progress
    const words = `${step.name === 'checking' ? 'Checking' : 'Packing'} line ${formatCount(lines)}`
    return <Progress label="Progress" words={words} done={bytes} total={file.size} onStop={onStop} />
  }
  if (step.name !== 'sending') return null
  const { sent, total } = step
  const words =
    sent >= total && total > 0
      ? 'Sent; the gateway checks it'
      : `${step.word}: ${formatBytes(sent)} of ${formatBytes(total)}, compressed`
  return <Progress label="Progress" words={words} done={sent} total={total} onStop={onStop} />
}

/** What all lines share, and the way to the estimate. */
function Settings({ batch, linesModel }: { batch: NewBatch; linesModel: string | null }) {
  const text = useModels('text')
  const embeddings = useModels('embeddings')
  const { settings, set, step, estimated } = batch
  const { endpoint, model, lane, maxCost } = settings
  const models = (endpoint === '/v1/embeddings' ? embeddings : text) ?? []
  const isMaxCostWrong = maxCost !== '' && !(Number(maxCost) >= 0)
  const isBusy = step.name === 'checking' || step.name === 'packing' || step.name === 'sending'
  return (
    <Panel title="How it runs">
      <div className="stack">
        <SelectField
          label="endpoint"
          value={endpoint}
          onChange={(value) => set({ endpoint: value })}
          choices={endpointChoices}
        />
        <div className="field">
          <span className="field-label">model</span>
          <ModelPicker
            label="model"
            models={models}
            value={model}
            onChange={(value) => set({ model: value })}
          />
          {linesModel !== null && linesModel !== model && (
            <p className="wrong">The lines name {linesModel}; a batch has one model.</p>
          )}
        </div>
        <SelectField
          label="lane"
          value={lane}
          onChange={(value) => set({ lane: value })}
          choices={laneChoices}
        />
        <TextField
          label="max_cost"
          inputMode="decimal"
          placeholder="no limit of its own"
          hint="In credits. The batch ends when its items would cost more."
          value={maxCost}
          wrong={isMaxCostWrong ? 'A number of credits, such as 2.5.' : null}
          onChange={(event) => set({ maxCost: event.target.value.trim() })}
        />
        {estimated === null && (
          <div>
            <Button
              kind="primary"
              isBusy={isBusy}
              disabled={model === '' || isMaxCostWrong}
              onClick={batch.estimate}
            >
              Estimate
            </Button>
          </div>
        )}
      </div>
    </Panel>
  )
}
