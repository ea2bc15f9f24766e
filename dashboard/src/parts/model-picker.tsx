import { Combobox } from '@base-ui/react/combobox'
import { ChevronsUpDown } from 'lucide-react'
import type { Model } from '../api/models.ts'
import { compactNumber, pricePer } from '../values/money.ts'

/** Chooses a model by typing a part of its id; price and context stand beside each. */
export function ModelPicker({
  label,
  models,
  value,
  onChange,
}: {
  label: string
  models: readonly Model[]
  value: string
  onChange: (id: string) => void
}) {
  const chosen = models.find(({ id }) => id === value) ?? null
  return (
    <Combobox.Root
      items={models as Model[]}
      value={chosen}
      onValueChange={(model: Model | null) => model !== null && onChange(model.id)}
      itemToStringLabel={(model: Model) => model.id}
      itemToStringValue={(model: Model) => model.id}
    >
      <div className="picker">
        <Combobox.Input className="input" aria-label={label} placeholder="Choose a model" />
        <Combobox.Trigger className="picker-open" aria-label={`${label}: show all`}>
          <ChevronsUpDown size={14} aria-hidden />
        </Combobox.Trigger>
      </div>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={4} align="start" className="picker-place">
          <Combobox.Popup className="popup picker-popup">
            <Combobox.Empty className="picker-empty">No model has that in its name.</Combobox.Empty>
            <Combobox.List className="options">
              {(model: Model) => (
                <Combobox.Item key={model.id} value={model} className="option">
                  <span className="cut">{model.id}</span>
                  <span className="option-end">{describePrice(model)}</span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}

const million = 1_000_000n

/** The price in the unit that people compare: `$0.15 / $0.60 per M · 128k`. */
export function describePrice(model: Model): string {
  const pricing: Readonly<Record<string, unknown>> = model.pricing
  const of = (name: string, quantity: bigint) => {
    const value = pricing[name]
    return typeof value === 'string' ? pricePer(value, quantity) : null
  }
  const outputs = model.architecture.output_modalities
  if (outputs.includes('transcription')) {
    const hour = of('audio', 3600n)
    return hour === null ? 'unpriced' : `${hour} per h`
  }
  const prompt = of('prompt', million)
  const completion = of('completion', million)
  if (outputs.includes('speech')) return prompt === null ? 'unpriced' : `${prompt} per M`
  if (prompt === null && completion === null) return 'unpriced'
  const context = model.context_length === null ? '' : ` · ${compactNumber(model.context_length)}`
  return `${prompt ?? '$0.00'} / ${completion ?? '$0.00'} per M${context}`
}
