import type { ErrorComponentProps } from '@tanstack/react-router'
import { gatewayAnswers } from '../api/answers.ts'
import { Failure } from '../parts/failure.tsx'
import { PageHead } from '../parts/page.tsx'

/** A page that broke, or a chunk that did not load because the gateway was replaced by another version. */
export function PageFailure({ error }: ErrorComponentProps) {
  return (
    <>
      <PageHead title="This page failed" />
      <div className="page-body narrow">
        <Failure error={error} onRetry={() => void loadAnew()} />
      </div>
    </>
  )
}

async function loadAnew(): Promise<void> {
  if (await gatewayAnswers()) window.location.reload()
}
