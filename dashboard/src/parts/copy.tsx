import { Check, Copy, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { copyText } from '../values/clipboard.ts'
import { Button } from './button.tsx'

type CopyState = 'idle' | 'copied' | 'refused'
const shownMs = 1600

function useCopy(text: string): { state: CopyState; copy: () => void } {
  const [state, setState] = useState<CopyState>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), shownMs)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () => {
    void copyText(text).then((isCopied) => setState(isCopied ? 'copied' : 'refused'))
  }
  return { state, copy }
}

function CopyIcon({ state }: { state: CopyState }) {
  if (state === 'copied') return <Check size={14} aria-hidden />
  if (state === 'refused') return <X size={14} aria-hidden />
  return <Copy size={14} aria-hidden />
}

const said: Readonly<Record<CopyState, string>> = {
  idle: '',
  copied: 'Copied',
  refused: 'The browser refused to copy',
}

export function CopyButton({ text, word = 'Copy' }: { text: string; word?: string }) {
  const { state, copy } = useCopy(text)
  return (
    <>
      <button type="button" className="copy" aria-label={word} title={said[state] || word} onClick={copy}>
        <CopyIcon state={state} />
      </button>
      <span className="hidden-visually" role="status">
        {said[state]}
      </span>
    </>
  )
}

export function CopyWideButton({ text, word }: { text: string; word: string }) {
  const { state, copy } = useCopy(text)
  return (
    <Button kind="primary" onClick={copy}>
      <CopyIcon state={state} />
      {state === 'idle' ? word : said[state]}
    </Button>
  )
}
