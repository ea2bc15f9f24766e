import { useRef, useState, type DragEvent, type ReactNode } from 'react'

/** A place that a file is dropped on, or chosen for: its children are given what opens the browser's own choice. */
export function DropFile({
  label,
  inputLabel,
  accept,
  onFile,
  children,
}: {
  label: string
  inputLabel: string
  /** What the browser's choice offers first; any file can be dropped. */
  accept: string
  onFile: (file: File) => void
  children: (choose: () => void) => ReactNode
}) {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const file = event.dataTransfer.files[0]
    if (file !== undefined) onFile(file)
  }
  return (
    <div
      className="drop"
      data-over={isOver}
      role="group"
      aria-label={label}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      {children(() => input.current?.click())}
      <input
        ref={input}
        type="file"
        hidden
        accept={accept}
        aria-label={inputLabel}
        onChange={(event) => {
          const file = event.target.files?.[0]
          if (file !== undefined) onFile(file)
          // The same file can be chosen again after it was mended.
          event.target.value = ''
        }}
      />
    </div>
  )
}
