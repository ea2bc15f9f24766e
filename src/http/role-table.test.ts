import { expect, test } from 'bun:test'
import { roles } from '../canonical/principal.ts'
import { allowedTo, requireRole } from './role-table.ts'

test('a route without a line in the table is refused to every role', () => {
  for (const role of roles) {
    for (const route of [
      { method: 'GET', path: '/made-up' },
      { method: 'DELETE', path: '/models' },
      { method: 'GET', path: 'constructor' },
    ])
      expect(() => requireRole(route, role)).toThrow('Sessions cannot do this')
  }
})

test('a later role may do all that an earlier one may, and more', () => {
  const [viewer, member, admin] = roles.map((role) => allowedTo(role))
  expect(member).toEqual(expect.arrayContaining(viewer ?? []))
  expect(admin).toEqual(expect.arrayContaining(member ?? []))
  expect([viewer, member, admin].map((lines) => lines?.includes('GET /keys'))).toEqual([true, true, true])
  expect([viewer, member, admin].map((lines) => lines?.includes('POST /batches'))).toEqual([
    false,
    true,
    true,
  ])
  expect([viewer, member, admin].map((lines) => lines?.includes('POST /keys'))).toEqual([false, false, true])
})
