import { Link } from '@tanstack/react-router'
import { PageHead } from '../parts/page.tsx'

export function NotFound() {
  return (
    <>
      <PageHead title="Not found" />
      <div className="page-body">
        <div className="empty">
          <h2>There is no page at this address</h2>
          <p>It may have been renamed. Paste an id with Ctrl K to find a request, a batch or a key.</p>
          <Link to="/overview" className="button">
            Open the overview
          </Link>
        </div>
      </div>
    </>
  )
}
