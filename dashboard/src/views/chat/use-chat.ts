import { useEffect, useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { asFailure } from '../../api/failure.ts'
import type { Model } from '../../api/models.ts'
import { emptyAnswer, streamChat, type ChatAnswer } from '../../values/chat-stream.ts'
import { messagesOf, settingsBody, type Prompt, type Settings, type Step, type Turn } from './conversation.ts'

/** How often, and how far apart, the cost of a stopped call is asked for: it is written when the provider has let go. */
const costTriesMax = 6
const costTryMs = 400

export interface Chat {
  turns: readonly Turn[]
  isRunning: (column: number) => boolean
  ask: (prompt: Prompt, given: { columns: readonly Model[]; settings: Settings }) => void
  answerTools: (column: number, results: Readonly<Record<string, string>>, given: Given) => void
  stop: (column?: number) => void
  clear: () => void
}

interface Given {
  model: Model
  settings: Settings
}

/** The conversations of up to three columns with one prompt each turn. */
export function useChat(): Chat {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const latest = useRef(turns)
  const running = useRef(new Map<number, AbortController>())
  const nextId = useRef(1)
  const [, setCount] = useState(0)

  const update = (change: (turns: readonly Turn[]) => readonly Turn[]) => {
    latest.current = change(latest.current)
    setTurns(latest.current)
  }
  useEffect(() => {
    const all = running.current
    return () => all.forEach((controller) => controller.abort())
  }, [])

  const run = async (column: number, { model, settings }: Given) => {
    const turn = latest.current.at(-1)
    if (turn === undefined) return
    const body = {
      model: model.id,
      stream: true,
      messages: messagesOf(latest.current, column, settings.system),
      ...settingsBody(settings, model.supported_parameters),
    }
    const place = { turnId: turn.id, column, step: (turn.columns[column] ?? []).length }
    const put = (change: Partial<Step>) => update((before) => withStep(before, place, change))
    put({ model: model.id, state: 'running', answer: emptyAnswer, failure: null, body, toolResults: {} })
    const controller = new AbortController()
    running.current.set(column, controller)
    setCount(running.current.size)
    let seen: ChatAnswer = emptyAnswer
    try {
      await streamChat(body, controller.signal, (answer) => {
        seen = answer
        put({ answer })
      })
      put({ state: 'done' })
    } catch (error) {
      if (controller.signal.aborted) {
        put({ state: 'stopped' })
        void costOf(seen.generationId).then((usage) => usage && put({ answer: { ...seen, usage } }))
      } else put({ state: 'failed', failure: asFailure(error) })
    } finally {
      running.current.delete(column)
      setCount(running.current.size)
    }
  }

  return {
    turns,
    isRunning: (column) => running.current.has(column),
    ask(prompt, { columns, settings }) {
      const id = nextId.current
      nextId.current += 1
      update((before) => [...before, { id, prompt, columns: {} }])
      columns.forEach((model, column) => void run(column, { model, settings }))
    },
    answerTools(column, results, given) {
      const turn = latest.current.at(-1)
      const steps = turn?.columns[column] ?? []
      if (turn === undefined || steps.length === 0) return
      const place = { turnId: turn.id, column, step: steps.length - 1 }
      update((before) => withStep(before, place, { toolResults: results }))
      void run(column, given)
    },
    stop(column) {
      if (column === undefined) running.current.forEach((controller) => controller.abort())
      else running.current.get(column)?.abort()
    },
    clear() {
      running.current.forEach((controller) => controller.abort())
      update(() => [])
    },
  }
}

interface Place {
  turnId: number
  column: number
  step: number
}

function withStep(
  turns: readonly Turn[],
  { turnId, column, step }: Place,
  change: Partial<Step>,
): readonly Turn[] {
  return turns.map((turn) => {
    if (turn.id !== turnId) return turn
    const steps = [...(turn.columns[column] ?? [])]
    steps[step] = { ...steps[step], ...change } as Step
    return { ...turn, columns: { ...turn.columns, [column]: steps } }
  })
}

/** What a stopped call cost, as the ledger has it. */
async function costOf(generationId: string | null): Promise<ChatAnswer['usage']> {
  if (generationId === null) return null
  for (let count = 0; count < costTriesMax; count += 1) {
    await new Promise((resolve) => setTimeout(resolve, costTryMs))
    try {
      const { data } = await call('GET /generation', { query: { id: generationId } })
      return {
        cost: data.total_cost,
        promptTokens: data.tokens_prompt ?? 0,
        completionTokens: data.tokens_completion ?? 0,
        reasoningTokens: 0,
      }
    } catch {
      // Not written yet.
    }
  }
  return null
}
