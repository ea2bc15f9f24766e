import { ChevronRight, Square } from 'lucide-react'
import { useState } from 'react'
import { apiUrl } from '../../api/place.ts'
import { Button } from '../../parts/button.tsx'
import { CallFoot } from '../../parts/call-foot.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { TextArea } from '../../parts/fields.tsx'
import { State } from '../../parts/state.tsx'
import { Credits } from '../../parts/values.tsx'
import { jsonExamples } from '../../values/examples.ts'
import { formatCount } from '../../values/money.ts'
import { formatDuration } from '../../values/time.ts'
import type { Step, Turn } from './conversation.ts'

export function TurnView({
  turn,
  columns,
  isLast,
  onStop,
  onToolResults,
}: {
  turn: Turn
  columns: number
  isLast: boolean
  onStop: (column: number) => void
  onToolResults: (column: number, results: Readonly<Record<string, string>>) => void
}) {
  return (
    <section className="turn" aria-label="Message and answers">
      <div className="turn-prompt">
        <p>{turn.prompt.text}</p>
        {turn.prompt.images.map((image) => (
          <img key={image.url} src={image.url} alt={image.name} />
        ))}
      </div>
      <div
        className="turn-answers"
        data-columns={columns}
        role="region"
        aria-label="Answers"
        // It scrolls on a narrow screen, and so must the keyboard.
        tabIndex={0}
      >
        {Array.from({ length: columns }, (_, column) => (
          <div className="turn-answer" key={column}>
            {(turn.columns[column] ?? []).map((step, index, steps) => (
              <StepView
                key={index}
                step={step}
                isNamed={columns > 1}
                onStop={() => onStop(column)}
                onToolResults={
                  isLast && index === steps.length - 1 && step.state === 'done'
                    ? (results) => onToolResults(column, results)
                    : null
                }
              />
            ))}
          </div>
        ))}
      </div>
    </section>
  )
}

function StepView({
  step,
  isNamed,
  onStop,
  onToolResults,
}: {
  step: Step
  isNamed: boolean
  onStop: () => void
  onToolResults: ((results: Readonly<Record<string, string>>) => void) | null
}) {
  const { answer, state, failure } = step
  return (
    <article className="step" aria-label={`Answer of ${step.model}`} aria-busy={state === 'running'}>
      {isNamed && <p className="muted small cut">{step.model}</p>}
      {answer.reasoning !== '' && (
        <details className="step-reasoning" open={state === 'running' && answer.text === ''}>
          <summary>
            <ChevronRight size={14} aria-hidden />
            Reasoning
          </summary>
          <p>{answer.reasoning}</p>
        </details>
      )}
      {answer.text !== '' && <p className="step-text">{shownText(step)}</p>}
      {state === 'running' && answer.text === '' && answer.toolCalls.length === 0 && (
        <State kind="running">Waiting for the first token</State>
      )}
      {answer.toolCalls.length > 0 && <ToolCalls step={step} onResults={onToolResults} />}
      {failure !== null && <Failure error={failure} />}
      {failure?.status === 402 && <NeededCredits metadata={failure.metadata} />}
      <StepFoot step={step} onStop={onStop} />
    </article>
  )
}

/** Structured output with its lines, once it is whole. */
function shownText({ answer, state, body }: Step): string {
  if (state !== 'done' || body['response_format'] === undefined) return answer.text
  try {
    return JSON.stringify(JSON.parse(answer.text), null, 2)
  } catch {
    return answer.text
  }
}

function NeededCredits({ metadata }: { metadata: Readonly<Record<string, unknown>> }) {
  const { needed, available } = metadata
  const source = metadata['limit_source']
  return (
    <p className="hint">
      {typeof needed === 'number' && typeof available === 'number' && (
        <>
          Needed <Credits value={needed} />, available <Credits value={available} />.{' '}
        </>
      )}
      {source === 'openrouter_key_limit'
        ? 'Your playground key has reached its limit; an admin can raise it below Members.'
        : 'The balance is below Money.'}
    </p>
  )
}

function ToolCalls({
  step,
  onResults,
}: {
  step: Step
  onResults: ((results: Readonly<Record<string, string>>) => void) | null
}) {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({})
  const { toolCalls } = step.answer
  return (
    <div className="stack tight">
      {toolCalls.map((called) => (
        <div key={called.id} className="tool-call">
          <code>
            <b>{called.name}</b>({called.arguments})
          </code>
          {onResults !== null && (
            <TextArea
              label={`Result of ${called.name}`}
              isCode
              rows={2}
              placeholder='{"degrees": 21}'
              value={results[called.id] ?? ''}
              onChange={(event) => setResults({ ...results, [called.id]: event.target.value })}
            />
          )}
          {step.toolResults[called.id] !== undefined && (
            <code className="muted">→ {step.toolResults[called.id]}</code>
          )}
        </div>
      ))}
      {onResults !== null && (
        <div>
          <Button isCompact onClick={() => onResults(results)}>
            Send the results
          </Button>
        </div>
      )}
    </div>
  )
}

function StepFoot({ step, onStop }: { step: Step; onStop: () => void }) {
  const { answer, state, failure } = step
  const { usage, provider, firstTokenMs, totalMs, finishReason, dropped, text } = answer
  const isRunning = state === 'running'
  const id = answer.generationId ?? answer.requestId ?? failure?.requestId ?? null
  return (
    <CallFoot
      call={{ cost: usage?.cost ?? null, totalMs: null, provider, id: isRunning ? null : id }}
      actions={<StepActions text={text} onStop={isRunning ? onStop : null} />}
      {...(isRunning ? {} : { examples: () => jsonExamples(apiUrl, '/chat/completions', step.body) })}
    >
      {state === 'stopped' && <State kind="ended">Stopped</State>}
      {usage !== null && (
        <span title="prompt and completion tokens">
          {formatCount(usage.promptTokens)} → {formatCount(usage.completionTokens)} tokens
          {usage.reasoningTokens > 0 && `, ${formatCount(usage.reasoningTokens)} thought`}
        </span>
      )}
      {firstTokenMs !== null && (
        <span title="until the first token, and in all">
          {formatDuration(firstTokenMs)}
          {totalMs !== null && ` / ${formatDuration(totalMs)}`}
        </span>
      )}
      {finishReason !== null && finishReason !== 'stop' && <span>{finishReason}</span>}
      {dropped.length > 0 && <State kind="warn">dropped {dropped.join(', ')}</State>}
    </CallFoot>
  )
}

function StepActions({ text, onStop }: { text: string; onStop: (() => void) | null }) {
  if (onStop === null) return text === '' ? null : <CopyButton text={text} word="Copy the answer" />
  return (
    <Button isCompact kind="quiet" onClick={onStop}>
      <Square size={12} aria-hidden />
      Stop
    </Button>
  )
}
