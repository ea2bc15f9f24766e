import { useState } from 'react'
import { Segments } from './fields.tsx'
import { CopyButton } from './copy.tsx'

/** The same call in several languages; the choice is the reader's and is kept. */
export interface Example {
  language: string
  text: string
}

const storageKey = 'headrace.code-language'

export function CodeTabs({ examples }: { examples: readonly Example[] }) {
  const [language, setLanguage] = useState(
    () => localStorage.getItem(storageKey) ?? examples[0]?.language ?? '',
  )
  const shown = examples.find((example) => example.language === language) ?? examples[0]
  if (shown === undefined) return null
  const choose = (value: string) => {
    localStorage.setItem(storageKey, value)
    setLanguage(value)
  }
  return (
    <div className="code-block">
      <div className="code-head">
        <Segments
          label="Language"
          value={shown.language}
          onChange={choose}
          choices={examples.map((example) => ({ value: example.language, label: example.language }))}
        />
        <span className="grow" />
        <CopyButton text={shown.text} word={`Copy the ${shown.language} code`} />
      </div>
      {/* A region that scrolls takes the focus, so that the keyboard can scroll it. */}
      <pre tabIndex={0} role="region" aria-label={`${shown.language} code`}>
        <code>{shown.text}</code>
      </pre>
    </div>
  )
}

export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div className="code-block">
      <div className="code-head">
        <span className="small muted grow">{label}</span>
        <CopyButton text={text} word={`Copy: ${label}`} />
      </div>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
    </div>
  )
}
