import type { Model } from '../../api/models.ts'
import { Button } from '../../parts/button.tsx'
import { SelectField, TextArea, TextField } from '../../parts/fields.tsx'
import { exampleSchema, exampleTool, type Settings } from './conversation.ts'

/** What is sent beside the messages, by the API's own names. */
export function SettingsPanel({
  settings,
  faults,
  models,
  onChange,
}: {
  settings: Settings
  faults: Partial<Record<keyof Settings, string>>
  models: readonly Model[]
  onChange: (settings: Settings) => void
}) {
  const set = (change: Partial<Settings>) => onChange({ ...settings, ...change })
  const supports = (name: string) => models.some(({ supported_parameters: list }) => list.includes(name))
  return (
    <aside className="split-side stack" aria-label="Settings">
      <TextArea
        label="System message"
        value={settings.system}
        onChange={(event) => set({ system: event.target.value })}
      />
      <div className="chat-pair">
        <TextField
          label="max_tokens"
          inputMode="numeric"
          placeholder="the model’s"
          value={settings.maxTokens}
          wrong={faults.maxTokens ?? null}
          onChange={(event) => set({ maxTokens: event.target.value.trim() })}
        />
        {supports('temperature') && (
          <TextField
            label="temperature"
            inputMode="decimal"
            placeholder="the model’s"
            value={settings.temperature}
            wrong={faults.temperature ?? null}
            onChange={(event) => set({ temperature: event.target.value.trim() })}
          />
        )}
      </div>
      {supports('reasoning') && (
        <SelectField
          label="reasoning.effort"
          value={settings.reasoning}
          onChange={(reasoning) => set({ reasoning })}
          choices={['', 'low', 'medium', 'high'].map((value) => ({
            value,
            label: value === '' ? 'the model’s' : value,
          }))}
        />
      )}
      <SelectField
        label="response_format"
        value={settings.format}
        onChange={(format) =>
          set({
            format,
            ...(format === 'json_schema' && settings.schema === '' ? { schema: exampleSchema } : {}),
          })
        }
        choices={[
          { value: 'text', label: 'text' },
          { value: 'json_object', label: 'json_object' },
          { value: 'json_schema', label: 'json_schema' },
        ]}
      />
      {settings.format === 'json_schema' && (
        <TextArea
          label="Schema"
          isCode
          rows={8}
          value={settings.schema}
          wrong={faults.schema ?? null}
          onChange={(event) => set({ schema: event.target.value })}
        />
      )}
      {supports('tools') && (
        <div className="stack tight">
          <TextArea
            label="tools"
            isCode
            rows={settings.tools === '' ? 2 : 10}
            placeholder="[]"
            value={settings.tools}
            wrong={faults.tools ?? null}
            onChange={(event) => set({ tools: event.target.value })}
          />
          {settings.tools === '' && (
            <Button isCompact kind="quiet" onClick={() => set({ tools: exampleTool })}>
              Insert an example
            </Button>
          )}
        </div>
      )}
    </aside>
  )
}
