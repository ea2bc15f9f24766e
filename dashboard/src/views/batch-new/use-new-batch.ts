import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../api/openapi.gen.ts'
import { upload } from '../../api/upload.ts'
import type { BatchEndpoint, LineReport } from '../../values/line-check.ts'
import { randomId } from '../../values/random-id.ts'
import { runLineTask, type CheckProgress } from './line-worker.ts'

export type Estimate = Schemas['BatchEstimate']
export type Lane = 'auto' | Estimate['lane']

export type Step =
  | { name: 'idle' }
  | { name: 'checking'; progress: CheckProgress }
  | { name: 'checked' }
  | { name: 'packing'; progress: CheckProgress }
  | { name: 'sending'; word: string; sent: number; total: number }
  | { name: 'estimated'; estimate: Estimate; body: Blob; head: string }

/** What all lines of a batch share. */
export interface BatchSettings {
  endpoint: BatchEndpoint
  model: string
  lane: Lane
  /** As it is written; empty for no limit. */
  maxCost: string
}

export interface NewBatch {
  file: File | null
  report: LineReport | null
  settings: BatchSettings
  step: Step
  failure: unknown
  /** Of these lines with these settings; null before it was asked for. */
  estimated: Extract<Step, { name: 'estimated' }> | null
  set: (change: Partial<BatchSettings>) => void
  take: (file: File) => void
  estimate: () => void
  create: () => void
  stop: () => void
  clear: () => void
}

const noProgress: CheckProgress = { bytes: 0, lines: 0, faultCount: 0 }
const sentType = { 'content-type': 'application/json', 'content-encoding': 'gzip' }

/** The steps from a file of lines to a batch: check, pack and estimate, confirm. */
export function useNewBatch(): NewBatch {
  const navigate = useNavigate()
  const [file, setFile] = useState<File | null>(null)
  const [report, setReport] = useState<LineReport | null>(null)
  const [step, setStep] = useState<Step>({ name: 'idle' })
  const [failure, setFailure] = useState<unknown>(null)
  const [settings, setSettings] = useState<BatchSettings>(firstSettings)
  const controller = useRef<AbortController | null>(null)
  const idempotencyKey = useRef('')
  const stop = () => controller.current?.abort()
  useEffect(() => () => controller.current?.abort(), [])
  const head = headOf(settings)
  const estimated = step.name === 'estimated' && step.head === head ? step : null

  /** Runs one thing at a time; what fails or is stopped leads back to `back`. */
  const run = async (back: Step, work: (signal: AbortSignal) => Promise<Step | null>) => {
    stop()
    const own = new AbortController()
    controller.current = own
    setFailure(null)
    try {
      const next = await work(own.signal)
      if (next !== null && controller.current === own) setStep(next)
    } catch (error) {
      if (controller.current !== own) return
      setStep(back)
      if (!own.signal.aborted) setFailure(error)
    }
  }
  const send = (path: string, body: Blob, given: { word: string; signal: AbortSignal; key?: string }) => {
    const { word, signal, key } = given
    setStep({ name: 'sending', word, sent: 0, total: body.size })
    return upload(path, body, {
      headers: { ...sentType, ...(key === undefined ? {} : { 'idempotency-key': key }) },
      signal,
      onProgress: (sent, total) => setStep({ name: 'sending', word, sent, total }),
    })
  }
  const take = (chosen: File) =>
    run({ name: 'idle' }, async (signal) => {
      setFile(chosen)
      setReport(null)
      idempotencyKey.current = randomId()
      setStep({ name: 'checking', progress: noProgress })
      const checked = await runLineTask(
        { file: chosen, head: null },
        { signal, onProgress: (progress) => setStep({ name: 'checking', progress }) },
      )
      const { endpoint, model } = checked.report
      setReport(checked.report)
      setSettings((before) => ({
        ...before,
        ...(endpoint === null ? {} : { endpoint }),
        ...(model === null ? {} : { model }),
      }))
      return { name: 'checked' }
    })
  const estimate = (chosen: File) =>
    run({ name: 'checked' }, async (signal) => {
      setStep({ name: 'packing', progress: noProgress })
      const { body } = await runLineTask(
        { file: chosen, head: JSON.parse(head) as Record<string, unknown> },
        { signal, onProgress: (progress) => setStep({ name: 'packing', progress }) },
      )
      if (body === null) return null
      const answer = await send('/batches?dry_run=true', body, { word: 'Sending for the estimate', signal })
      return { name: 'estimated', estimate: JSON.parse(answer.text) as Estimate, body, head }
    })
  const create = (confirmed: Extract<Step, { name: 'estimated' }>) =>
    run(confirmed, async (signal) => {
      // The same for another try of the same file: it stays one batch.
      const key = `${idempotencyKey.current}-${hashText(confirmed.head)}`
      const answer = await send('/batches', confirmed.body, { word: 'Sending', signal, key })
      const { id } = JSON.parse(answer.text) as Schemas['Batch']
      void navigate({ to: `/batches/${id}` })
      return null
    })
  return {
    file,
    report,
    settings,
    step,
    failure,
    estimated,
    set: (change) => setSettings({ ...settings, ...change }),
    take: (chosen) => void take(chosen),
    estimate: () => void (file !== null && estimate(file)),
    create: () => void (estimated !== null && create(estimated)),
    stop,
    clear() {
      stop()
      controller.current = null
      setFile(null)
      setReport(null)
      setFailure(null)
      setStep({ name: 'idle' })
    },
  }
}

const firstSettings: BatchSettings = {
  endpoint: '/v1/chat/completions',
  model: '',
  lane: 'auto',
  maxCost: '',
}

/** The members of the request beside its items, as JSON. */
function headOf({ endpoint, model, lane, maxCost }: BatchSettings): string {
  const headrace = { lane, ...(maxCost === '' ? {} : { max_cost: Number(maxCost) }) }
  return JSON.stringify({ endpoint, model, headrace })
}

/** A short name of a text, so that other settings are another batch. */
function hashText(text: string): string {
  let hash = 5381
  for (let index = 0; index < text.length; index += 1)
    hash = (Math.imul(hash, 33) + text.charCodeAt(index)) >>> 0
  return hash.toString(36)
}
