import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { isLimitWrong, LimitFields, toLimitChange, toLimitText } from '../../parts/limit-fields.tsx'

/** Changes what a person's own calls may cost. */
export function LimitDialog({
  name,
  member,
  onClose,
  onSaved,
}: {
  name: string
  member: Schemas['Member']
  onClose: () => void
  onSaved: () => void
}) {
  const [limit, setLimit] = useState(() => toLimitText(member.headrace.playground))
  const save = useMutation({
    mutationFn: () =>
      call('PATCH /headrace/members/{id}', {
        path: { id: member.id },
        body: { playground: toLimitChange(limit) },
      }),
    onSuccess: onSaved,
  })
  return (
    <Confirm
      title={`What may the calls of ${name} cost?`}
      verb="Set the limit"
      kind="primary"
      isDisabled={isLimitWrong(limit) || save.isPending}
      onConfirm={() => save.mutate()}
      onClose={onClose}
    >
      <div className="stack">
        <p>Calls, batches and playgrounds of a signed-in person are paid by a key of the person’s own.</p>
        <LimitFields value={limit} onChange={setLimit} />
        {save.error !== null && <Failure error={save.error} />}
      </div>
    </Confirm>
  )
}
