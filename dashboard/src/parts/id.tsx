import { CopyButton } from './copy.tsx'

const headCharacters = 10
const tailCharacters = 6

/** An id in mono, cut in the middle, with a way to copy the whole of it. */
export function Id({ value, isWhole = false }: { value: string; isWhole?: boolean }) {
  const isCut = !isWhole && value.length > headCharacters + tailCharacters + 2
  const shown = isCut ? `${value.slice(0, headCharacters)}…${value.slice(-tailCharacters)}` : value
  return (
    <span className="id above">
      <span className="cut" title={value}>
        {shown}
      </span>
      <CopyButton text={value} word={`Copy ${value}`} />
    </span>
  )
}
