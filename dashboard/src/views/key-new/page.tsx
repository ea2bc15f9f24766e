import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { call } from '../../api/client.ts'
import { keysQuery } from '../../api/keys.ts'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { SelectField, TextArea, TextField } from '../../parts/fields.tsx'
import { isLimitWrong, LimitFields, toLimitChange, type LimitText } from '../../parts/limit-fields.tsx'
import { PageHead } from '../../parts/page.tsx'
import { SecretPage } from './secret-page.tsx'
import { useUnsavedSecret } from './unsaved-secret.ts'

type Kind = 'inference' | 'management'

interface Form extends LimitText {
  name: string
  kind: Kind
  expires: string
  requestsPerMinute: string
  models: string
}

const blank: Form = {
  name: '',
  kind: 'inference',
  limit: '',
  reset: 'monthly',
  expires: '',
  requestsPerMinute: '',
  models: '',
}

export function Page() {
  const [made, setMade] = useUnsavedSecret()
  const navigate = useNavigate()
  return (
    <>
      <PageHead
        title={made === null ? 'Create a key' : 'Save the secret'}
        back={{ to: '/keys', word: 'All keys' }}
      />
      <div className="page-body narrow">
        {made === null ? (
          <KeyForm onMade={setMade} />
        ) : (
          <SecretPage
            made={made}
            onSaved={() => {
              const { hash } = made
              setMade(null)
              void navigate({ to: `/keys/${hash}` })
            }}
          />
        )}
      </div>
    </>
  )
}

function KeyForm({ onMade }: { onMade: (made: { name: string; hash: string; secret: string }) => void }) {
  const queries = useQueryClient()
  const [form, setForm] = useState<Form>(blank)
  const [failure, setFailure] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const set = (change: Partial<Form>) => setForm({ ...form, ...change })
  const isRateWrong = form.requestsPerMinute !== '' && !/^[1-9]\d{0,6}$/.test(form.requestsPerMinute)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFailure(null)
    try {
      const { data, key } = await call('POST /keys', { body: toBody(form) })
      void queries.invalidateQueries(keysQuery)
      onMade({ name: data.name, hash: data.hash, secret: key })
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <TextField
        label="name"
        required
        maxLength={255}
        placeholder="the program or person that it is for"
        value={form.name}
        onChange={(event) => set({ name: event.target.value })}
      />
      <SelectField
        label="kind"
        value={form.kind}
        onChange={(kind) => set({ kind })}
        hint={
          form.kind === 'inference'
            ? 'Makes calls; cannot change anything.'
            : 'Changes keys and settings and reads everything; cannot make calls.'
        }
        choices={[
          { value: 'inference', label: 'inference' },
          { value: 'management', label: 'management' },
        ]}
      />
      {form.kind === 'inference' && (
        <>
          <LimitFields value={form} onChange={set} />
          <div className="pair">
            <TextField
              label="expires_at"
              type="datetime-local"
              hint="In the time of this browser; empty: never."
              value={form.expires}
              onChange={(event) => set({ expires: event.target.value })}
            />
            <TextField
              label="requests_per_minute"
              inputMode="numeric"
              placeholder="no limit"
              value={form.requestsPerMinute}
              wrong={isRateWrong ? 'A whole number from 1 on.' : null}
              onChange={(event) => set({ requestsPerMinute: event.target.value.trim() })}
            />
          </div>
          <TextArea
            label="allowed_models"
            rows={2}
            placeholder="every model"
            hint="Ids of models, separated by commas or lines."
            value={form.models}
            onChange={(event) => set({ models: event.target.value })}
          />
        </>
      )}
      {failure !== null && <Failure error={failure} />}
      <div>
        <Button
          kind="primary"
          type="submit"
          isBusy={isBusy}
          disabled={form.name.trim() === '' || isLimitWrong(form) || isRateWrong}
        >
          Create the key
        </Button>
      </div>
    </form>
  )
}

function toBody({ name, kind, expires, requestsPerMinute, models, ...limit }: Form) {
  const named = { name: name.trim(), headrace: { kind } }
  if (kind === 'management') return named
  const allowed = models.split(/[\s,]+/).filter((id) => id !== '')
  return {
    ...named,
    ...(limit.limit === '' ? {} : toLimitChange(limit)),
    ...(expires === '' ? {} : { expires_at: new Date(expires).toISOString() }),
    headrace: {
      kind,
      ...(allowed.length === 0 ? {} : { policy: { allowed_models: allowed } }),
      ...(requestsPerMinute === '' ? {} : { rates: { requests_per_minute: Number(requestsPerMinute) } }),
    },
  }
}
