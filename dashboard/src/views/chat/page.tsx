import { useQuery } from '@tanstack/react-query'
import { Columns2, Eraser, Plus, X } from 'lucide-react'
import { useState } from 'react'
import { modelsQuery, useModels, type Model } from '../../api/models.ts'
import { useFilters } from '../../app/filters.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { Empty, PageHead, Skeleton } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { Composer } from './composer.tsx'
import { firstSettings, settingsFaults, type Settings } from './conversation.ts'
import { SettingsPanel } from './settings-panel.tsx'
import { TurnView } from './turn-view.tsx'
import { useChat } from './use-chat.ts'

const columnsMax = 3

export function Page() {
  const models = useModels('text')
  const catalog = useQuery(modelsQuery)
  const [filters, setFilters] = useFilters()
  const [settings, setSettings] = useState<Settings>(firstSettings)
  const chat = useChat()
  const chosen = chosenModels(models ?? [], filters['models'])
  const choose = (list: readonly string[]) => setFilters({ models: list.join(',') })
  const ids = chosen.map(({ id }) => id)
  const faults = settingsFaults(settings)
  const isRunning = ids.some((_, column) => chat.isRunning(column))
  return (
    <>
      <PageHead title="Chat" of={catalog}>
        <Button isCompact kind="quiet" onClick={chat.clear} disabled={chat.turns.length === 0}>
          <Eraser size={14} aria-hidden />
          Clear
        </Button>
        <Button
          isCompact
          disabled={ids.length >= columnsMax || models === undefined}
          onClick={() => choose([...ids, nextModel(models ?? [], ids)])}
        >
          <Columns2 size={14} aria-hidden />
          Compare
        </Button>
      </PageHead>
      <div className="split">
        <div className="split-main chat">
          <Reading of={catalog} place={<Skeleton height={32} />}>
            {() => null}
          </Reading>
          {models?.length === 0 && (
            <Empty title="No model writes text here">
              <p>Set a provider’s key and start the gateway again; its models then stand here.</p>
            </Empty>
          )}
          {chosen.length > 0 && (
            <>
              <div className="chat-heads" data-columns={chosen.length}>
                {chosen.map((model, column) => (
                  <div className="row" key={`${column}-${model.id}`}>
                    <span className="grow">
                      <ModelPicker
                        label={`Model of column ${column + 1}`}
                        models={models ?? []}
                        value={model.id}
                        onChange={(id) => choose(ids.with(column, id))}
                      />
                    </span>
                    {chosen.length > 1 && (
                      <IconButton
                        word={`Remove column ${column + 1}`}
                        onClick={() => choose(ids.toSpliced(column, 1))}
                      >
                        <X size={14} aria-hidden />
                      </IconButton>
                    )}
                  </div>
                ))}
              </div>
              <div className="chat-turns" aria-live="off">
                {chat.turns.length === 0 && <Hints />}
                {chat.turns.map((turn, index) => (
                  <TurnView
                    key={turn.id}
                    turn={turn}
                    columns={chosen.length}
                    isLast={index === chat.turns.length - 1}
                    onStop={chat.stop}
                    onToolResults={(column, results) => {
                      const model = chosen[column]
                      if (model !== undefined) chat.answerTools(column, results, { model, settings })
                    }}
                  />
                ))}
              </div>
              <Composer
                isRunning={isRunning}
                isBlocked={Object.keys(faults).length > 0}
                takesImages={chosen.every(({ architecture }) =>
                  architecture.input_modalities.includes('image'),
                )}
                onSend={(prompt) => chat.ask(prompt, { columns: chosen, settings })}
                onStop={() => chat.stop()}
              />
            </>
          )}
        </div>
        <SettingsPanel settings={settings} faults={faults} models={chosen} onChange={setSettings} />
      </div>
    </>
  )
}

function Hints() {
  return (
    <div className="chat-hints">
      <p>
        Send a message to see it answered, with its cost, its times and the same call as code. <b>Compare</b>{' '}
        <Plus size={12} aria-hidden /> puts up to three models side by side.
      </p>
    </div>
  )
}

/** The models of the address, or the cheapest one that is there. */
function chosenModels(models: readonly Model[], named: string | undefined): Model[] {
  const wanted = (named ?? '').split(',').filter((id) => id !== '')
  const found = wanted.flatMap((id) => models.find((model) => model.id === id) ?? [])
  if (found.length > 0) return found.slice(0, columnsMax)
  const priced = models.filter(({ pricing }) => Number(pricing.prompt) > 0)
  const cheapest = priced.toSorted(
    (left, right) => Number(left.pricing.prompt) - Number(right.pricing.prompt),
  )[0]
  const first = cheapest ?? models[0]
  return first === undefined ? [] : [first]
}

function nextModel(models: readonly Model[], taken: readonly string[]): string {
  return models.find(({ id }) => !taken.includes(id))?.id ?? models[0]?.id ?? ''
}
