import { ImagePlus, Send, Square, X } from 'lucide-react'
import { useRef, useState, type ClipboardEvent, type KeyboardEvent } from 'react'
import { Button, IconButton } from '../../parts/button.tsx'
import type { Prompt, PromptImage } from './conversation.ts'

const imagesMax = 4
/** A body with four of them stays below the gateway's limit of a JSON body. */
const imageBytesMax = 5_000_000

/** The prompt: Enter sends, Shift and Enter begins a line. */
export function Composer({
  isRunning,
  isBlocked,
  takesImages,
  onSend,
  onStop,
}: {
  isRunning: boolean
  isBlocked: boolean
  takesImages: boolean
  onSend: (prompt: Prompt) => void
  onStop: () => void
}) {
  const [text, setText] = useState('')
  const [images, setImages] = useState<readonly PromptImage[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const canSend = text.trim() !== '' && !isRunning && !isBlocked
  const submit = () => {
    if (!canSend) return
    onSend({ text, images })
    setText('')
    setImages([])
  }
  const add = async (files: readonly File[]) => {
    const [taken, refused] = await readImages(files, imagesMax - images.length)
    setImages((before) => [...before, ...taken])
    setProblem(refused)
  }
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files].filter(({ type }) => type.startsWith('image/'))
    if (files.length === 0 || !takesImages) return
    event.preventDefault()
    void add(files)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  return (
    <div className="composer">
      {images.length > 0 && (
        <ul className="composer-images">
          {images.map((image) => (
            <li key={image.url}>
              <img src={image.url} alt={image.name} />
              <IconButton
                word={`Remove ${image.name}`}
                onClick={() => setImages(images.filter((other) => other !== image))}
              >
                <X size={12} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <textarea
        className="composer-text"
        aria-label="Message"
        placeholder="Write a message"
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
        onPaste={onPaste}
      />
      <div className="row">
        {takesImages && (
          <>
            <input
              ref={input}
              type="file"
              accept="image/png,image/jpeg,image/webp,image/gif"
              multiple
              hidden
              onChange={(event) => {
                void add([...(event.target.files ?? [])])
                event.target.value = ''
              }}
            />
            <IconButton
              word="Add images"
              disabled={images.length >= imagesMax}
              onClick={() => input.current?.click()}
            >
              <ImagePlus size={16} aria-hidden />
            </IconButton>
          </>
        )}
        <span className="grow hint" role="status">
          {problem ?? (isBlocked ? 'The settings have a mistake.' : '')}
        </span>
        {isRunning ? (
          <Button isCompact onClick={onStop}>
            <Square size={12} aria-hidden />
            Stop all
          </Button>
        ) : (
          <Button isCompact kind="primary" disabled={!canSend} onClick={submit}>
            <Send size={14} aria-hidden />
            Send
          </Button>
        )}
      </div>
    </div>
  )
}

/** The images as data URLs, and why others were left out. */
async function readImages(files: readonly File[], left: number): Promise<[PromptImage[], string | null]> {
  const fitting = files.filter(({ size }) => size <= imageBytesMax).slice(0, left)
  const taken = await Promise.all(
    fitting.map(async (file) => ({ name: file.name, url: await toDataUrl(file) })),
  )
  if (fitting.length === files.length) return [taken, null]
  return [taken, `At most ${imagesMax} images of ${imageBytesMax / 1_000_000} MB each.`]
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error ?? new Error('the image could not be read'))
    reader.readAsDataURL(file)
  })
}
