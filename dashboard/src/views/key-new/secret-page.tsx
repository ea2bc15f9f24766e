import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { firstModel, modelsQuery } from '../../api/models.ts'
import { apiUrl } from '../../api/place.ts'
import { Button } from '../../parts/button.tsx'
import { CodeTabs, type Example } from '../../parts/code.tsx'
import { CopyWideButton } from '../../parts/copy.tsx'
import { Skeleton } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { jsonExamples } from '../../values/examples.ts'
import type { UnsavedSecret } from './unsaved-secret.ts'

/** Shows a secret until it is saved. A page and not a dialog: nothing that a slip of the hand closes. */
export function SecretPage({ made, onSaved }: { made: UnsavedSecret; onSaved: () => void }) {
  const models = useQuery(modelsQuery)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  return (
    <div className="stack loose">
      <section className="secret" aria-label="The secret">
        <h2>The secret of “{made.name}”</h2>
        <p>
          The gateway keeps only its hash and cannot show it again. Save it now; it stays on this page, also
          after a reload, until you say so.
        </p>
        <output className="secret-text">{made.secret}</output>
        <div className="row wrap">
          <CopyWideButton text={made.secret} word="Copy the secret" />
          <Button onClick={onSaved}>I saved it</Button>
        </div>
      </section>
      <section className="stack tight">
        <h2>Call with it</h2>
        <Reading of={models} place={<Skeleton height={240} />}>
          {(all) => {
            const model = firstModel(all, 'text', 'openai/gpt-4o-mini')
            if (model === null) return <p className="hint">No model for chat is served here yet.</p>
            return <CodeTabs examples={examplesOf(made, model.id)} />
          }}
        </Reading>
      </section>
    </div>
  )
}

function examplesOf({ secret }: UnsavedSecret, model: string): Example[] {
  return jsonExamples(apiUrl, '/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Say hello' }],
  }).map((example) =>
    example.language === 'curl'
      ? { ...example, text: `export HEADRACE_API_KEY=${secret}\n${example.text}` }
      : example,
  )
}
