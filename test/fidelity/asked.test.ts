import { afterAll, describe, expect, test } from 'bun:test'
import { at } from '../support/gateway.ts'
import { cellOf, modelFor } from './cells.ts'
import { repliesSaying, requestOf, startLab } from './lab.ts'
import { parts } from './rows.ts'
import { pairs, type AskedRow, type Caller, type Cell, type Json, type Upstream } from './table.ts'

// What a provider gets of a request, for every pair of formats; the expectations are in features/.

const lab = await startLab()
afterAll(() => lab.stop())

async function check(
  row: AskedRow,
  { caller, upstream }: { caller: Caller; upstream: Upstream },
): Promise<void> {
  const cell = cellOf(row, caller, upstream)
  const cells = row.cells[caller]
  if (cell.is === 'impossible' || 'cannotAsk' in cells) return
  lab.answer(repliesSaying(row.text ?? 'Well.'))
  const { status, json } = await lab.ask(
    caller,
    requestOf(caller, modelFor(row, { caller, upstream }), cells.ask),
  )
  if (cell.is === 'refused') {
    expect({ status, json, seen: lab.seen }).toMatchObject({ status: cell.status, seen: [] })
    expect(String(at(json, 'error.message'))).toContain(`"${cell.param}`)
    return
  }
  expect({ status, json }).toMatchObject({ status: 200 })
  const [seen = {}] = lab.seen
  expect(seen).toMatchObject(cell.expected)
  for (const path of absentOf(cell)) expect([path, at(seen, path)]).toEqual([path, undefined])
  expect(listsOf(json)).toEqual({
    dropped: lostOf(cell),
    approximated: cell.is === 'approximated' ? [...cell.listed] : [],
  })
}

function lostOf(cell: Cell): string[] {
  if (cell.is === 'approximated') return [...cell.lost]
  return cell.is === 'dropped' ? [...cell.listed] : []
}

function absentOf(cell: Cell): readonly string[] {
  return 'absent' in cell ? cell.absent : []
}

/** What the answer says about itself, in the order of the alphabet. */
function listsOf(json: Json) {
  const of = (name: string) => ((at(json, `headrace_metadata.${name}`) ?? []) as string[]).toSorted()
  return { dropped: of('dropped'), approximated: of('approximated') }
}

for (const { title, rows } of parts) {
  describe(title, () => {
    for (const row of rows) {
      if (row.kind !== 'asked') continue
      for (const { caller, upstream } of pairs) {
        const { is } = cellOf(row, caller, upstream)
        if (is === 'impossible') continue
        test(`${row.id} ${caller} to ${upstream}: ${row.title} (${is})`, () =>
          check(row, { caller, upstream }))
      }
    }
  })
}
