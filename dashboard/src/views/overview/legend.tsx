import { useNavigate } from '@tanstack/react-router'
import type { Schemas } from '../../api/openapi.gen.ts'
import { Nanocredits } from '../../parts/values.tsx'
import { formatCount } from '../../values/money.ts'
import { formatDuration } from '../../values/time.ts'

/** The groups of a chart as a table that sums to its headline; each leads to its requests. */
export function Legend({
  spend,
  by,
  colours,
}: {
  spend: Schemas['Spend']
  by: string
  colours: readonly string[]
}) {
  const navigate = useNavigate()
  const open = (group: string) =>
    void navigate({ to: '/requests', search: { [by]: group, from: spend.from, to: spend.to } })
  return (
    <div className="table-wrap">
      <table className="table compact chart-legend">
        <caption className="hidden-visually">Spend by {by}</caption>
        <thead>
          <tr>
            <th scope="col">{by}</th>
            <th scope="col" className="number">
              Spend
            </th>
            <th scope="col" className="number">
              Requests
            </th>
            <th scope="col" className="number">
              Errors
            </th>
            <th scope="col" className="number wide-only">
              p50
            </th>
          </tr>
        </thead>
        <tbody>
          {spend.groups.map(({ id, ...group }, index) => (
            <tr key={id ?? 'other'}>
              <td>
                <span className="swatch" data-colour={colours[index]} />
                {/* Of "None" the id is empty: no filter of requests means it. */}
                {id === null || id === '' ? (
                  group.name
                ) : (
                  <button type="button" className="link" onClick={() => open(id)}>
                    {group.name}
                  </button>
                )}
              </td>
              <td className="number">
                <Nanocredits value={group.cost_nanocredits} />
              </td>
              <td className="number">{formatCount(group.requests)}</td>
              <td className="number">{group.errors === null ? '–' : formatCount(group.errors)}</td>
              <td className="number wide-only">
                {group.p50_ms === null ? '–' : formatDuration(group.p50_ms)}
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>All</td>
            <td className="number">
              <Nanocredits value={spend.total.cost_nanocredits} />
            </td>
            <td className="number">
              {formatCount(by === 'user' ? spend.total.charged_requests : spend.total.requests)}
            </td>
            <td className="number">{formatCount(spend.total.errors)}</td>
            <td className="number wide-only">
              {spend.total.p50_ms === null ? '–' : formatDuration(spend.total.p50_ms)}
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  )
}
