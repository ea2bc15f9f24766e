import { expect, test } from 'bun:test'
import type { Endpoint, Model } from '../../canonical/endpoint.ts'
import type { Place } from '../../catalog/operator-names.ts'
import { listDeadNames } from './dead-names.ts'

const near = { model: 'maker/large', provider: 'near' }
const far = { model: 'maker/large', provider: 'far' }
const small = { model: 'maker/small' }

/** A name of two groups, with the group of each endpoint that is served. */
function deadOf(served: Readonly<Record<string, number>>, dead: readonly string[]) {
  const endpoints = Object.keys(served).map((id) => ({ id }) as Endpoint)
  const places = new Map<string, Place>(
    Object.entries(served).map(([id, group]) => [id, { group, weight: 1 }]),
  )
  const view = {
    model: (base: string) => (base === 'fast' ? ({ endpoints } as unknown as Model) : null),
    placesOf: (base: string) => (base === 'fast' ? places : null),
  }
  return listDeadNames(
    { fast: { groups: [[near, far], [small]] }, other: { groups: [[small]] } },
    view,
    ({ id }) => dead.includes(id),
  )
}

test('a first group is dead when all that is served of it fails, and when nothing of it is served', () => {
  const members = ['maker/large at near', 'maker/large at far']
  expect(deadOf({ near: 0, far: 0, small: 1 }, ['near', 'far'])).toEqual([
    { name: 'fast', members, isServed: true, hasOthers: true },
  ])
  expect(deadOf({ small: 1 }, [])).toEqual([{ name: 'fast', members, isServed: false, hasOthers: true }])
  expect(deadOf({ near: 0 }, ['near'])).toEqual([{ name: 'fast', members, isServed: true, hasOthers: false }])
})

test('a group with one endpoint that answers is alive, and a name that nothing serves is told elsewhere', () => {
  expect(deadOf({ near: 0, far: 0, small: 1 }, ['near'])).toEqual([])
  expect(deadOf({ near: 0, small: 1 }, ['small'])).toEqual([])
  expect(deadOf({}, [])).toEqual([])
})
