import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { modelsQuery } from '../../api/models.ts'
import { useMay, useSession } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyWideButton } from '../../parts/copy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Switch } from '../../parts/fields.tsx'
import { Id } from '../../parts/id.tsx'
import { PageHead, Panel, Skeleton } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'

export function Page() {
  const { organization } = useSession()
  return (
    <>
      <PageHead title="Organization" />
      <div className="page-body narrow">
        <Panel title={organization.name}>
          <dl className="facts">
            <dt>id</dt>
            <dd>
              <Id value={organization.id} isWhole />
            </dd>
            <dt>account_mode</dt>
            <dd>
              {organization.account_mode === 'prepaid'
                ? 'prepaid: calls are refused with 402 below the balance'
                : 'tracked: costs are recorded, nothing is refused'}
            </dd>
          </dl>
        </Panel>
        <Panel title="Catalog">
          <CatalogSetting />
        </Panel>
        <SigningSecret />
        <Panel title="Policy of the whole organization">
          <div className="stack">
            <p className="muted">
              Rules for all keys are set on the gateway’s machine; a running gateway follows within two
              seconds.
            </p>
            <CodeBlock
              label="Rules, by the command line"
              text={`npx headrace org\nnpx headrace org set allowed-providers openai,groq\nnpx headrace org set requests-per-minute 600`}
            />
          </div>
        </Panel>
      </div>
    </>
  )
}

function CatalogSetting() {
  const queries = useQueryClient()
  const may = useMay()
  const settings = useQuery({
    queryKey: ['settings'],
    queryFn: async ({ signal }) => (await call('GET /organization/settings', { signal })).data,
  })
  const all = useQuery(modelsQuery)
  const usable = useQuery({
    queryKey: ['models-user'],
    queryFn: async ({ signal }) => (await call('GET /models/user', { signal })).data,
    retry: false,
  })
  const save = useMutation({
    mutationFn: (isOn: boolean) =>
      call('PATCH /organization/settings', { body: { is_filtered_model_catalog_enabled: isOn } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['settings'] })
      void queries.invalidateQueries(modelsQuery)
    },
  })
  if (settings.data === undefined)
    return (
      <Reading of={settings} place={<Skeleton height={56} />}>
        {() => null}
      </Reading>
    )
  const isOn = save.isPending ? save.variables : settings.data.is_filtered_model_catalog_enabled
  const textModels = all.data?.filter(({ architecture }) => architecture.output_modalities.includes('text'))
  const usableCount = usable.data?.filter(({ id }) => !id.includes(':')).length
  return (
    <div className="stack tight">
      <Switch
        label="is_filtered_model_catalog_enabled"
        isOn={isOn}
        isDisabled={!may('PATCH /organization/settings') || save.isPending}
        onChange={(next) => save.mutate(next)}
      />
      <p className="hint">
        {isOn
          ? 'Lists of models show each key only what it can use.'
          : 'Lists of models show everything that is served here, also what a key may not use.'}
        {usableCount !== undefined && textModels !== undefined && usableCount < textModels.length && (
          <>
            {' '}
            The policy blocks {textModels.length - usableCount} of {textModels.length} models that write text.
          </>
        )}
      </p>
      {save.error !== null && <Failure error={save.error} />}
    </div>
  )
}

function SigningSecret() {
  const may = useMay()
  const [asks, setAsks] = useState(false)
  const make = useMutation({ mutationFn: () => call('POST /organization/signing-secret') })
  if (!may('POST /organization/signing-secret')) return null
  const secret = make.data?.data.signing_secret ?? null
  return (
    <Panel title="Signing secret of events">
      <div className="stack">
        <p className="muted">
          Events to <code>callback_url</code> are signed with it. A new secret is shown once; the one before
          goes on signing beside it for a day.
        </p>
        {make.error !== null && <Failure error={make.error} />}
        {secret === null ? (
          <div>
            <Button isBusy={make.isPending} onClick={() => setAsks(true)}>
              Make another secret
            </Button>
          </div>
        ) : (
          <div className="secret">
            <output className="secret-text">{secret}</output>
            <div className="row">
              <CopyWideButton text={secret} word="Copy the secret" />
              <Button onClick={() => make.reset()}>I saved it</Button>
            </div>
          </div>
        )}
        {asks && (
          <Confirm
            title="Make another signing secret?"
            verb="Make the secret"
            onClose={() => setAsks(false)}
            onConfirm={() => {
              setAsks(false)
              make.mutate()
            }}
          >
            Receivers must learn it before the old one ends.
          </Confirm>
        )}
      </div>
    </Panel>
  )
}
