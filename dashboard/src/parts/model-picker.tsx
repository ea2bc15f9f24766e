import { Combobox } from '@base-ui/react/combobox'
import { ChevronsUpDown } from 'lucide-react'
import type { Model } from '../api/models.ts'
import { describePrice } from '../values/model-price.ts'

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
