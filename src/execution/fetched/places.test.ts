import { expect, test } from 'bun:test'
import { Places } from './places.ts'

const staying = new AbortController().signal

test('calls that find no free place get one in the order of their arrival', async () => {
  const places = new Places(1)
  const order: string[] = []
  const free = await places.take(staying)
  const waiting = ['first', 'second'].map(async (name) => {
    const freeOwn = await places.take(staying)
    order.push(name)
    freeOwn()
  })
  await Promise.resolve()
  expect(order).toEqual([])
  free()
  await Promise.all(waiting)
  expect(order).toEqual(['first', 'second'])
})

test('a place that is freed twice is one place', async () => {
  const places = new Places(1)
  const free = await places.take(staying)
  free()
  free()
  await places.take(staying)
  const leaving = new AbortController()
  const second = places.take(leaving.signal).then(
    () => 'got one',
    () => 'left',
  )
  leaving.abort()
  expect(await second).toBe('left')
})

test('a call that leaves while it waits takes no place, and the next call gets it', async () => {
  const places = new Places(1)
  const free = await places.take(staying)
  const leaving = new AbortController()
  const left = places.take(leaving.signal).catch((reason: unknown) => reason)
  const next = places.take(staying)
  leaving.abort(new Error('the caller left'))
  expect(await left).toMatchObject({ message: 'the caller left' })
  free()
  expect(await next).toBeFunction()
})
