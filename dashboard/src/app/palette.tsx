import { Dialog } from '@base-ui/react/dialog'
import { useNavigate } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import { useState, type KeyboardEvent } from 'react'
import { views } from '../views/registry.ts'
import { find } from './find.ts'

/** Opens what an id belongs to, or a view by its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const found = find(text)
  const wanted = text.trim().toLowerCase()
  const named = views
    .filter(({ sidebar, title }) => sidebar !== undefined && title.toLowerCase().includes(wanted))
    .map(({ path, title }) => ({ to: path, word: title }))
  const options = found === null ? named : [found]
  const open = (to: string) => {
    onClose()
    void navigate({ to })
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      setChosen((chosen + step + options.length) % Math.max(options.length, 1))
    }
    const option = options[chosen]
    if (event.key === 'Enter' && option !== undefined) open(option.to)
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="veil" />
        <Dialog.Popup className="popup palette" aria-label="Find by id">
          <input
            className="palette-input"
            placeholder="Paste a request, generation, batch or key id, or type a page"
            aria-label="Id or name of a page"
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-options"
            aria-activedescendant={options.length > 0 ? `palette-${chosen}` : undefined}
            value={text}
            onChange={(event) => {
              setText(event.target.value)
              setChosen(0)
            }}
            onKeyDown={onKey}
          />
          <div className="options" role="listbox" id="palette-options" aria-label="Where to go">
            {options.map(({ to, word }, index) => (
              <div
                key={to}
                id={`palette-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === chosen}
                className="option"
                onMouseMove={() => setChosen(index)}
                onClick={() => open(to)}
                onKeyDown={onKey}
              >
                <ArrowRight size={14} aria-hidden />
                {word}
                <span className="option-end mono">{found === null ? '' : text.trim()}</span>
              </div>
            ))}
          </div>
          {options.length === 0 && (
            <p className="hint palette-none">
              Ids begin with <code>req_</code>, <code>gen-</code>, <code>batch_</code> or <code>key_</code>.
            </p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
